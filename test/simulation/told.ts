/** Building blocks of scripted runs. */
import { groupConfigSchema } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import type { Act, Fault, PlannedFault } from './faults.js';
import type { Setup } from './setup.js';

export interface ScriptedRun {
  readonly setup: Setup;
  readonly faults: readonly PlannedFault[];
}

/** A scripted run. What the script leaves open is drawn. */
export type Scenario = (chance: Chance, setup: Setup) => ScriptedRun;

/** When the group has settled, so that what must happen soon is judged. */
export const settledMs = 3_300;

/** Nothing is lost at random, there is no prepare hook, and seats start at 0. */
export const plain = { sequence: null, hasPrepare: false, isGentle: false } as const;

/** Two nodes in each of two sites. The leader is in the first site, unless something speaks against it. */
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

/** Whether a seed modulo 50 equals `digits`. Each kind of scripted run has its own value. */
export function hasDigits(seed: number, digits: number): boolean {
  return seed % every === digits;
}
