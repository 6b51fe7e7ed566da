/** Building blocks of scripted runs. */
import { groupConfigSchema } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import type { Act, Fault, PlannedFault } from './faults.js';
import type { Setup } from './setup.js';

export interface ScriptedRun {
  readonly setup: Setup;
  readonly faults: readonly PlannedFault[];
}

/** Returns a scripted run. Everything that the script does not specify is drawn. */
export type Scenario = (chance: Chance, setup: Setup) => ScriptedRun;

/** Time by which the group has settled. Deadlines are judged from this time on. */
export const settledMs = 3_300;

/** Settings without a prepare hook. The run does not count as gentle, and seats start at 0. */
export const plain = { sequence: null, hasPrepare: false, isGentle: false } as const;

/**
 * Returns a setup with two nodes in each of two sites. The leader is in the first site, unless there is a
 * reason against it.
 */
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

/** Digits that two kinds of runs share in turn, because no known seed of a sabotage has them. */
const sharedDigits = 44;

/** Whether the seed is of the kind of run with this turn, 0 or 1, of the two that share digits. */
export function sharesDigits(seed: number, turn: 0 | 1): boolean {
  return hasDigits(seed, sharedDigits) && Math.floor(seed / every) % 2 === turn;
}

/** Whether the seed modulo 50 equals `digits`. Each kind of scripted run has its own digits. */
export function hasDigits(seed: number, digits: number): boolean {
  return seed % every === digits;
}
