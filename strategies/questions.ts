/**
 * Questions to strategies and constraints that run elsewhere. For example, user-defined rules run in another
 * thread. Code that depends on an answer does not wait for it. If the answer is missing, the code throws
 * Unanswered with the question. The caller then gets the answer and runs the code again.
 */
import type { ConstraintInput, Finding } from '../src/model/own-constraint.js';
import type { Ranked, StrategyInput } from '../src/model/strategy.js';

export type RankingInput = Omit<StrategyInput<unknown>, 'options'>;

export interface StrategyQuestion {
  /** Name of the strategy in the registry. */
  readonly strategy: string;
  readonly options: unknown;
  /** Input for the ranking. Null if only the options must be checked. */
  readonly input: RankingInput | null;
}

export interface ConstraintQuestion {
  /** Name of the constraint in the rules. */
  readonly constraint: string;
  readonly input: ConstraintInput;
}

export type ChoiceInput = StrategyQuestion | ConstraintQuestion;

/** A problem with an option, in the same shape as an issue in zod. */
export interface OptionIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export type Answer =
  | { readonly problems: readonly OptionIssue[] }
  | { readonly ranking: readonly Ranked[] }
  /** Findings, keyed by node id. Nodes without a finding are omitted. */
  | { readonly findings: readonly (readonly [string, Finding])[] }
  | { readonly failure: string };

/** Answers, keyed by question. `keyOf` returns the key of a question. */
export type Answers = ReadonlyMap<string, Answer>;

/** Thrown while the answer from a strategy or constraint is still pending. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  readonly question: ChoiceInput;

  constructor(question: ChoiceInput) {
    const whom =
      'strategy' in question ? `strategy ${question.strategy}` : `constraint ${question.constraint}`;
    super(`${whom} has not answered yet`);
    this.question = question;
  }
}

/** Returns the answer to a question. Throws Unanswered if the answer is missing. */
export function answerTo(question: ChoiceInput, answers: Answers | undefined): Answer {
  const answer = answers?.get(keyOf(question));
  if (answer === undefined) throw new Unanswered(question);
  return answer;
}

/** Returns a key for a question. Equal questions have equal keys. */
export function keyOf(question: ChoiceInput): string {
  return JSON.stringify(question, (_key, value: unknown) => {
    if (value instanceof Map) return [...value];
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}
