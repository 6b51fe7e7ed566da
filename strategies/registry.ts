/** Makes a strategy usable in a group's configuration. Checks the strategy's options and binds them. */
import type { AnyConstraint, Constraint } from '../src/core/constraint.js';
import { plainMessage } from '../src/model/plain-message.js';
import type { Strategy } from '../src/model/strategy.js';
import type { Answer, Answers, ConstraintQuestion, OptionIssue, StrategyQuestion } from './questions.js';

/** A strategy with checked and complete options. It maps candidates to a ranking. */
export interface ReadyStrategy {
  readonly name: string;
  /** Whether the strategy compares measurements. */
  readonly usesScores?: boolean | undefined;
  /** Minutes of the day, in UTC, at which the strategy's ranking may change. */
  readonly minutes?: readonly number[] | undefined;
  /**
   * Ranks the candidates. Throws Unanswered if the strategy runs elsewhere and its answer is still pending.
   */
  rank(input: Omit<Parameters<Strategy['rank']>[0], 'options'>): ReturnType<Strategy['rank']>;
}

export type StrategyRegistry = ReadonlyMap<string, RegisteredStrategy>;

/**
 * The rules that a group's configuration can name. They differ between processes, because a user may add
 * rules.
 */
export interface Rules {
  readonly strategies: StrategyRegistry;
  /** Built-in constraints. All of them apply. Reports list them in this order. */
  readonly constraints: readonly Constraint[];
  /**
   * User-defined constraints, keyed by name. Those named in the configuration apply after the built-in ones.
   */
  readonly ownConstraints: ReadonlyMap<string, RegisteredConstraint>;
  /** Answers from strategies and constraints that run elsewhere. Missing if there are none yet. */
  readonly answers?: Answers;
}

export interface RegisteredConstraint {
  readonly name: string;
  /** Version of the constraint. The findings of different versions may differ. */
  readonly version: string;
  /** Returns the constraint with its answers bound. */
  prepare(rules: Rules): AnyConstraint;
  /** Queries the constraint, which runs elsewhere. Never rejects. */
  ask(question: ConstraintQuestion): Promise<Answer>;
}

export type Prepared =
  | { readonly strategy: ReadyStrategy; readonly problems: null }
  | { readonly strategy: null; readonly problems: string[] };

export interface RegisteredStrategy {
  readonly name: string;
  readonly description: string;
  /**
   * Version of a user-defined strategy. Different versions may rank differently. Missing for a strategy that
   * ships with Petrel.
   */
  readonly version?: string;
  /** Whether the strategy compares measurements. False if the options are invalid. */
  usesScores(options: unknown, rules: Rules): boolean;
  /**
   * Checks the options and returns the strategy with these options, or the problems with the options. Throws
   * Unanswered if the strategy runs elsewhere and its answer is still pending.
   */
  prepare(options: unknown, rules: Rules): Prepared;
  /** Queries a strategy that runs elsewhere. Missing if the strategy is a plain function. Never rejects. */
  ask?(question: StrategyQuestion): Promise<Answer>;
}

/** Returns a strategy in the form that a registry needs. */
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

/** Returns the problems with the options. Each problem starts with the option's key in the configuration. */
export function optionProblems(strategy: string, issues: readonly OptionIssue[]): string[] {
  return issues.map(({ path, message }) => {
    const key = ['strategyOptions', ...path.map(String)].join('.');
    return `${key}: ${plainMessage(message)} (strategy ${strategy})`;
  });
}
