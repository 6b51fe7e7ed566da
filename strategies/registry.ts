/** What makes a strategy fit for a group's configuration to name: its options checked, and bound. */
import type { Strategy } from '../src/core/strategy.js';

/** A strategy whose options have been checked and filled in: candidates go in, a ranking comes out. */
export interface ReadyStrategy {
  readonly name: string;
  /** It compares what nodes measure. */
  readonly usesScores?: boolean | undefined;
  /** Minutes of the day, in UTC, at which it may begin to rank otherwise. */
  readonly minutes?: readonly number[] | undefined;
  rank(input: Omit<Parameters<Strategy['rank']>[0], 'options'>): ReturnType<Strategy['rank']>;
}

export type StrategyRegistry = ReadonlyMap<string, RegisteredStrategy>;

export interface RegisteredStrategy {
  readonly name: string;
  readonly description: string;
  /** Checks options and binds them. The problems say what would be right. */
  prepare(
    options: unknown,
  ): { readonly strategy: ReadyStrategy; readonly problems: null } | { strategy: null; problems: string[] };
}

/** Makes a strategy fit for a registry. */
export function register<Options>(strategy: Strategy<Options>): RegisteredStrategy {
  return {
    name: strategy.name,
    description: strategy.description,
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

/** As zod has them. */
export interface OptionIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What is wrong with options, each with its key as one writes it in the configuration. */
export function optionProblems(strategy: string, issues: readonly OptionIssue[]): string[] {
  return issues.map(({ path, message }) => {
    const key = ['strategyOptions', ...path.map(String)].join('.');
    return `${key}: ${message} (strategy ${strategy})`;
  });
}
