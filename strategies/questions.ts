/**
 * Questions to strategies and constraints that run elsewhere: a user's own runs in a thread. Whoever judges
 * by it does not wait for it. Where an answer is missing it throws the question; its caller asks, and judges
 * again with the answer.
 */
import type { ConstraintInput, Finding } from '../src/model/own-constraint.js';
import type { Ranked, StrategyInput } from '../src/model/strategy.js';

export type RankingInput = Omit<StrategyInput<unknown>, 'options'>;

export interface StrategyQuestion {
  /** Its name in the registry. */
  readonly strategy: string;
  readonly options: unknown;
  /** Null: only the options are to be checked. */
  readonly input: RankingInput | null;
}

export interface ConstraintQuestion {
  /** Its name in the rules. */
  readonly constraint: string;
  readonly input: ConstraintInput;
}

export type ChoiceInput = StrategyQuestion | ConstraintQuestion;

/** As zod has them. */
export interface OptionIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export type Answer =
  | { readonly problems: readonly OptionIssue[] }
  | { readonly ranking: readonly Ranked[] }
  /** By node; a node that nothing was found against is missing. */
  | { readonly findings: readonly (readonly [string, Finding])[] }
  | { readonly failure: string };

/** By `keyOf` their questions. */
export type Answers = ReadonlyMap<string, Answer>;

/** Thrown where a strategy, or a constraint, has yet to be asked. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  readonly question: ChoiceInput;

  constructor(question: ChoiceInput) {
    const whom =
      'strategy' in question ? `strategy ${question.strategy}` : `constraint ${question.constraint}`;
    super(`${whom} has yet to be asked`);
    this.question = question;
  }
}

/** Throws Unanswered. */
export function answerTo(question: ChoiceInput, answers: Answers | undefined): Answer {
  const answer = answers?.get(keyOf(question));
  if (answer === undefined) throw new Unanswered(question);
  return answer;
}

/** Equal questions have equal keys. */
export function keyOf(question: ChoiceInput): string {
  return JSON.stringify(question, (_key, value: unknown) => {
    if (value instanceof Map) return [...value];
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}
