/** The strategies that ship with Petrel, and their registry. */
import { conditional } from './conditional.js';
import { consensus } from './consensus.js';
import { constraints } from './constraints/index.js';
import { firstAvailable } from './first-available.js';
import { history } from './history.js';
import { latency } from './latency.js';
import { oldest } from './oldest.js';
import { pole } from './pole.js';
import { preferenceList } from './preference-list.js';
import { type Rules, register, type StrategyRegistry } from './registry.js';
import { request } from './request.js';
import { rotating } from './rotating.js';
import { roundRobin } from './round-robin.js';
import { sitePriority } from './site-priority.js';
import { worstCase } from './worst-case.js';

export type {
  ConstraintContext,
  ConstraintNode,
  Finding,
  OwnConstraint,
} from '../src/model/own-constraint.js';
export type { Candidate, Peer, Ranked, Strategy, StrategyInput } from '../src/model/strategy.js';
export {
  type ReadyStrategy,
  type RegisteredConstraint,
  type RegisteredStrategy,
  type Rules,
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
  conditional,
];

export const strategies: StrategyRegistry = new Map(builtIn.map((strategy) => [strategy.name, strategy]));

/** The rules that every process knows. */
export const builtInRules: Rules = { strategies, constraints, ownConstraints: new Map() };
