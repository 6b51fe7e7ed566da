/**
 * Questions to strategies and constraints that run elsewhere: user-defined ones run in a thread. Code that
 * depends on an answer does not wait for it. If the answer is missing, that code throws the question. Its
 * caller gets the answer and runs it again.
 */
import type { ConstraintInput, Finding } from '../src/model/own-constraint.js';
import type { Ranked, StrategyInput } from '../src/model/strategy.js';

export type RankingInput = Omit<StrategyInput<unknown>, 'options'>;

export interface StrategyQuestion {
  /** Its name in the registry. */
  readonly strategy: string;
  readonly options: unknown;
  /** Null to check only the options. */
  readonly input: RankingInput | null;
}

export interface ConstraintQuestion {
  /** Its name in the rules. */
  readonly constraint: string;
  readonly input: ConstraintInput;
}

export type ChoiceInput = StrategyQuestion | ConstraintQuestion;

/** Same shape as in zod. */
export interface OptionIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export type Answer =
  | { readonly problems: readonly OptionIssue[] }
  | { readonly ranking: readonly Ranked[] }
  /** By node. A node without a finding is missing. */
  | { readonly findings: readonly (readonly [string, Finding])[] }
  | { readonly failure: string };

/** By `keyOf` of their questions. */
export type Answers = ReadonlyMap<string, Answer>;

/** Thrown while the answer of a strategy or constraint is still pending. */
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

/** Returns the answer. Throws Unanswered if it is missing. */
export function answerTo(question: ChoiceInput, answers: Answers | undefined): Answer {
  const answer = answers?.get(keyOf(question));
  if (answer === undefined) throw new Unanswered(question);
  return answer;
}

/** Returns a key. Equal questions have equal keys. */
export function keyOf(question: ChoiceInput): string {
  return JSON.stringify(question, (_key, value: unknown) => {
    if (value instanceof Map) return [...value];
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}
