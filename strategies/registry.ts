/** What makes a strategy fit for a group's configuration to name: its options checked, and bound. */
import type { AnyConstraint, Constraint } from '../src/core/constraint.js';
import { plainMessage } from '../src/model/plain-message.js';
import type { Strategy } from '../src/model/strategy.js';
import type { Answer, Answers, ConstraintQuestion, OptionIssue, StrategyQuestion } from './questions.js';

/** A strategy whose options have been checked and filled in: candidates go in, a ranking comes out. */
export interface ReadyStrategy {
  readonly name: string;
  /** It compares what nodes measure. */
  readonly usesScores?: boolean | undefined;
  /** Minutes of the day, in UTC, at which it may begin to rank otherwise. */
  readonly minutes?: readonly number[] | undefined;
  /** Throws Unanswered where it runs elsewhere and has yet to be asked. */
  rank(input: Omit<Parameters<Strategy['rank']>[0], 'options'>): ReturnType<Strategy['rank']>;
}

export type StrategyRegistry = ReadonlyMap<string, RegisteredStrategy>;

/** The rules that a group's configuration can name. They differ between processes: a user may add to them. */
export interface Rules {
  readonly strategies: StrategyRegistry;
  /** All of them hold, in the order in which people are told of them. */
  readonly constraints: readonly Constraint[];
  /** Of users' own, by name: those hold that the configuration names, after the others. */
  readonly ownConstraints: ReadonlyMap<string, RegisteredConstraint>;
  /** Answers of strategies and constraints that run elsewhere; missing: none yet. */
  readonly answers?: Answers;
}

export interface RegisteredConstraint {
  readonly name: string;
  /** Two that differ may find otherwise. */
  readonly version: string;
  /** As it is folded, by these answers. */
  prepare(rules: Rules): AnyConstraint;
  /** Never rejects. */
  ask(question: ConstraintQuestion): Promise<Answer>;
}

export type Prepared =
  | { readonly strategy: ReadyStrategy; readonly problems: null }
  | { readonly strategy: null; readonly problems: string[] };

export interface RegisteredStrategy {
  readonly name: string;
  readonly description: string;
  /** Of a user's own: two that differ may rank differently. Missing: it ships with Petrel. */
  readonly version?: string;
  /** Whether it compares what nodes measure; false for options that it does not take. */
  usesScores(options: unknown, rules: Rules): boolean;
  /**
   * Checks options and binds them. The problems say what would be right. Throws Unanswered, as
   * `ReadyStrategy.rank` does.
   */
  prepare(options: unknown, rules: Rules): Prepared;
  /** Asks one that runs elsewhere; missing: it is a plain function. Never rejects. */
  ask?(question: StrategyQuestion): Promise<Answer>;
}

/** Makes a strategy fit for a registry. */
export function register<Options>(strategy: Strategy<Options>): RegisteredStrategy {
  return {
    name: strategy.name,
    description: strategy.description,
    usesScores: (raw) => strategy.usesScores === true && strategy.options.safeParse(raw).success,
    prepare(raw) {
      const parsed = strategy.options.safeParse(raw);
      if (!parsed.success) {
        const problems = optionProblems(strategy.name, parsed.error.issues);
        return { strategy: null, problems };
      }
      const options = parsed.data;
      return {
        strategy: {
          name: strategy.name,
          usesScores: strategy.usesScores,
          rank: (input) => strategy.rank({ ...input, options }),
        },
        problems: null,
      };
    },
  };
}

/** What is wrong with options, each with its key as one writes it in the configuration. */
export function optionProblems(strategy: string, issues: readonly OptionIssue[]): string[] {
  return issues.map(({ path, message }) => {
    const key = ['strategyOptions', ...path.map(String)].join('.');
    return `${key}: ${plainMessage(message)} (strategy ${strategy})`;
  });
}
