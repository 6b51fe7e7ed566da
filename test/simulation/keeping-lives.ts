/**
 * Draws runs in which the leader is also the elector and cannot stop its workload. The other nodes must fence
 * it.
 */
import type { Chance } from '../support/chance.js';
import { bystander, whoElects } from './faults.js';
import { at, hasDigits, people, plain, type ScriptedRun, settledMs } from './scripted-run.js';
import type { Setup } from './setup.js';

const digits = 23;

export function keepsClaim(seed: number): boolean {
  return hasDigits(seed, digits);
}

export function keepingLifeOf({ between }: Chance, setup: Setup): ScriptedRun {
  const movedMs = settledMs + between(1_500, 2_500);
  return {
    setup: {
      ...setup,
      ...plain,
      nodes: ['a1', 'b1', 'a2'],
      delays: { leastMs: 0.2, mostMs: 2 },
      hasFence: true,
      faultPeriodMs: movedMs + 6_000,
    },
    faults: [
      at(settledMs, { kind: 'hook', node: whoElects, phase: 'takeover', mood: 'undying', forMs: 1_400 }),
      at(settledMs, people({ do: 'failover', node: whoElects })),
      at(movedMs, people({ do: 'failover', node: bystander })),
    ],
  };
}
