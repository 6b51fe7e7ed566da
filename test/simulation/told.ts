/** What lives that are told, not drawn, are put together from. */
import { groupConfigSchema } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import type { Act, Fault, PlannedFault } from './faults.js';
import type { Setup } from './setup.js';

export interface LogContext {
  readonly setup: Setup;
  readonly faults: readonly PlannedFault[];
}

/** Leaves open what is drawn. */
export type Scenario = (chance: Chance, setup: Setup) => LogContext;

/** When the group has settled, and what has to happen soon is judged. */
export const settledMs = 3_300;

/** Nothing of it lost at random, no hook that prepares, seats from the beginning. */
export const plain = { sequence: null, hasPrepare: false, isGentle: false } as const;

/** Two nodes in each of two sites; the leader is in the first, unless something speaks against it. */
export function twoSites(setup: Setup, rules: object, changes: Partial<Setup> = {}): Setup {
  const config = groupConfigSchema.parse({
    ...setup.config,
    strategy: 'site-priority',
    sites: { a: { priority: 200 }, b: { priority: 100 } },
    ...rules,
  });
  return { ...setup, nodes: ['a1', 'b1', 'a2', 'b2'], ...plain, config, ...changes };
}

export function at(atMs: number, fault: Fault): PlannedFault {
  return { atMs: Math.round(atMs), fault };
}

export function people(act: Act): Fault {
  return { kind: 'people', act, forMs: 0 };
}

const every = 50;

/** One seed in fifty, by its last digits below fifty: each kind of told life has its own. */
export function hasDigits(seed: number, digits: number): boolean {
  return seed % every === digits;
}
