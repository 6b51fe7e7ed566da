/** The strategies that ship with Petrel, and the one registry of them. */
import type { Strategy } from '../src/core/strategy.js';
import { consensus } from './consensus.js';
import { firstAvailable } from './first-available.js';
import { history } from './history.js';
import { latency } from './latency.js';
import { oldest } from './oldest.js';
import { pole } from './pole.js';
import { preferenceList } from './preference-list.js';
import { request } from './request.js';
import { rotating } from './rotating.js';
import { roundRobin } from './round-robin.js';
import { sitePriority } from './site-priority.js';
import { worstCase } from './worst-case.js';

export type { Candidate, Peer, Ranked, Strategy, StrategyInput } from '../src/core/strategy.js';
export {
  consensus,
  firstAvailable,
  history,
  latency,
  oldest,
  pole,
  preferenceList,
  request,
  rotating,
  roundRobin,
  sitePriority,
  worstCase,
};

/** A strategy whose options have been checked and filled in: candidates go in, a ranking comes out. */
export interface ReadyStrategy {
  readonly name: string;
  /** It compares what nodes measure. */
  readonly usesScores?: boolean | undefined;
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
        const problems = parsed.error.issues.map((issue) => {
          const key = ['strategyOptions', ...issue.path.map(String)].join('.');
          return `${key}: ${issue.message} (strategy ${strategy.name})`;
        });
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

const builtIn = [
  register(firstAvailable),
  register(oldest),
  register(preferenceList),
  register(roundRobin),
  register(sitePriority),
  register(history),
  register(request),
  register(consensus),
  register(latency),
  register(worstCase),
  register(rotating),
  register(pole),
];

export const strategies: StrategyRegistry = new Map(builtIn.map((strategy) => [strategy.name, strategy]));
