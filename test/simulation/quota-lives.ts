/**
 * Draws runs in which the group reaches a quota of the ensemble. The quota leaves room for the nodes and
 * their claim, but for no record of the history, or for few. It stays, so the group has to elect leaders
 * under it.
 */
import { groupConfigSchema } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import { bystander, type Fault, whoElects, whoLeads } from './faults.js';
import { at, hasDigits, people, plain, type ScriptedRun, settledMs } from './scripted-run.js';
import type { Setup } from './setup.js';

const digits = 11;
/** Time by which the failover before the quota is over, and the leader owns its claim. */
const quotaMs = settledMs + 1_000;

export function reachesQuota(seed: number): boolean {
  return hasDigits(seed, digits);
}

export function quotaLifeOf({ between, odds, pick, upTo }: Chance, setup: Setup): ScriptedRun {
  const { sessionTimeoutMs } = setup;
  const config = groupConfigSchema.parse({ ...setup.config, historySize: pick([3, 100]) });
  const step = () => {
    const node = pick([whoLeads, whoLeads, whoElects, bystander]);
    return pick<Fault>([
      people({ do: 'failover', node: bystander }),
      people({ do: 'switchover to the best' }),
      people({ do: 'pause' }),
      people({ do: 'resume' }),
      { kind: 'leave', node, forMs: Math.round(0.5 * sessionTimeoutMs) },
      { kind: 'kill agent', node, forMs: 300 },
      { kind: 'kill both', node, forMs: Math.round(1.5 * sessionTimeoutMs) },
      { kind: 'unhealthy', node, forMs: Math.round(sessionTimeoutMs) },
    ]);
  };
  const count = 2 + upTo(3);
  const steps = Array.from({ length: count }, (_, turn) =>
    at(quotaMs + 100 + (turn + between(0, 1)) * sessionTimeoutMs, step()),
  );
  return {
    setup: {
      ...setup,
      ...plain,
      nodes: ['a1', 'b1', 'a2'],
      config,
      faultPeriodMs: quotaMs + (count + 2) * sessionTimeoutMs,
    },
    faults: [
      // The history has more records with it.
      ...(odds(0.7) ? [at(settledMs - 800, people({ do: 'failover', node: bystander }))] : []),
      at(quotaMs, { kind: 'quota', spare: pick([0, 0, 1, 2, 5]), forMs: 0 }),
      ...steps,
    ],
  };
}
