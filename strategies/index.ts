/** The strategies that ship with Petrel, and the one registry of them. */
import { byCircumstance } from './by-circumstance.js';
import { consensus } from './consensus.js';
import { firstAvailable } from './first-available.js';
import { history } from './history.js';
import { latency } from './latency.js';
import { oldest } from './oldest.js';
import { pole } from './pole.js';
import { preferenceList } from './preference-list.js';
import { type RegisteredStrategy, register, type StrategyRegistry } from './registry.js';
import { request } from './request.js';
import { rotating } from './rotating.js';
import { roundRobin } from './round-robin.js';
import { sitePriority } from './site-priority.js';
import { worstCase } from './worst-case.js';

export type { Candidate, Peer, Ranked, Strategy, StrategyInput } from '../src/core/strategy.js';
export {
  type ReadyStrategy,
  type RegisteredStrategy,
  register,
  type StrategyRegistry,
} from './registry.js';
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

const known = new Map(builtIn.map((strategy) => [strategy.name, strategy]));
addStrategy(byCircumstance(known));

export const strategies: StrategyRegistry = known;

/** Makes a strategy known in this process; false where its name is taken. */
export function addStrategy(strategy: RegisteredStrategy): boolean {
  if (known.has(strategy.name)) return false;
  known.set(strategy.name, strategy);
  return true;
}
