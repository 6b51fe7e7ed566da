/**
 * Draws runs in which the chroot of the agents' connection string vanishes with the whole group, and returns
 * empty. Meanwhile, agents may be restarted.
 */
import type { Chance } from '../support/chance.js';
import { bystander, type Fault, whoElects, whoLeads } from './faults.js';
import { at, hasDigits, plain, type ScriptedRun, settledMs } from './scripted-run.js';
import type { Setup } from './setup.js';

const digits = 36;

export function losesChroot(seed: number): boolean {
  return hasDigits(seed, digits);
}

export function chrootLifeOf({ between, odds, pick }: Chance, setup: Setup): ScriptedRun {
  const { sessionTimeoutMs } = setup;
  const forMs = Math.round(between(0.2, 3) * sessionTimeoutMs);
  const node = pick([whoLeads, whoElects, bystander]);
  const meanwhile = pick<Fault>([
    { kind: 'kill agent', node, forMs: 300 },
    { kind: 'kill both', node, forMs: 300 },
    { kind: 'leave', node, forMs: 1_500 },
    { kind: 'reset', node, forMs: 0 },
  ]);
  return {
    setup: {
      ...setup,
      ...plain,
      nodes: ['a1', 'b1', 'a2'],
      chroot: '/base',
      faultPeriodMs: settledMs + forMs + 2 * sessionTimeoutMs,
    },
    faults: [
      at(settledMs, { kind: 'delete chroot', forMs }),
      ...(odds(0.7) ? [at(settledMs + between(0.1, 0.9) * forMs, meanwhile)] : []),
    ],
  };
}
