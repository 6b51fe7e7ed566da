/**
 * Questions to strategies that run elsewhere: a user's own runs in a thread. Whoever ranks does not wait for it. Where an
 * answer is missing it throws the question; its caller asks, and ranks again with the answer.
 */
import type { Ranked, StrategyInput } from '../src/model/strategy.js';

export type RankingInput = Omit<StrategyInput<unknown>, 'options'>;

export interface StrategyQuestion {
  /** Its name in the registry. */
  readonly strategy: string;
  readonly options: unknown;
  /** Null: only the options are to be checked. */
  readonly input: RankingInput | null;
}

/** As zod has them. */
export interface OptionIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export type StrategyAnswer =
  | { readonly problems: readonly OptionIssue[] }
  | { readonly ranking: readonly Ranked[] }
  | { readonly failure: string };

/** By `keyOf` their questions. */
export type StrategyAnswers = ReadonlyMap<string, StrategyAnswer>;

/** Thrown where a strategy has yet to be asked. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  readonly question: StrategyQuestion;

  constructor(question: StrategyQuestion) {
    super(`strategy ${question.strategy} has yet to be asked`);
    this.question = question;
  }
}

/** Throws Unanswered. */
export function answerTo(question: StrategyQuestion, answers: StrategyAnswers | undefined): StrategyAnswer {
  const answer = answers?.get(keyOf(question));
  if (answer === undefined) throw new Unanswered(question);
  return answer;
}

/** Equal questions have equal keys. */
export function keyOf(question: StrategyQuestion): string {
  return JSON.stringify(question, (_key, value: unknown) => {
    if (value instanceof Map) return [...value];
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}
