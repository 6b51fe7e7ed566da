/**
 * Draws runs in which the ensemble is restored from a backup, or rebuilt without data, while its agents
 * continue. The transaction numbers start again lower, and so do fencing tokens. The servers are stopped for
 * longer than any lease lasts.
 */
import type { Chance } from '../support/chance.js';
import { bystander, type Fault, type PlannedFault, whoElects, whoLeads } from './faults.js';
import { at, people, plain, type ScriptedRun, settledMs, sharesDigits } from './scripted-run.js';
import type { Setup } from './setup.js';

export function isRestored(seed: number): boolean {
  return sharesDigits(seed, 0);
}

export function restoredLifeOf({ between, odds, pick }: Chance, setup: Setup): ScriptedRun {
  const { sessionTimeoutMs } = setup;
  const movesMs = settledMs + between(200, 1_000);
  const stopMs = movesMs + 1_200 + between(3_000, 6_000);
  // Without the failovers, a node that has never led becomes the elector, and knows only the leader's token.
  const moves = odds(0.5)
    ? [
        at(movesMs, people({ do: 'failover', node: bystander })),
        at(movesMs + 1_200, people({ do: 'failover', node: pick([bystander, whoElects]) })),
      ]
    : [at(movesMs, { kind: 'delete seat', node: whoElects, forMs: 0 })];
  const forMs = Math.round(between(1.4, 2.2) * sessionTimeoutMs);
  const startMs = stopMs + forMs;
  const killed: Fault = { kind: 'kill both', node: pick([whoLeads, whoElects]), forMs: 300 };
  const faults: PlannedFault[] = [
    at(settledMs, { kind: 'back up', forMs: 0 }),
    ...moves,
    at(stopMs, { kind: 'restore', from: pick(['backup', 'nothing']), forMs }),
    // A restarted node knows the tokens that it has seen only from its state directory.
    ...(odds(0.5) ? [at(between(stopMs, startMs + sessionTimeoutMs), killed)] : []),
    ...(odds(0.3) ? [at(startMs + 2 * sessionTimeoutMs, people({ do: 'raise token epoch' }))] : []),
  ];
  return {
    setup: {
      ...setup,
      ...plain,
      // A third node may not have seen the greatest token.
      nodes: pick([
        ['a1', 'b1'],
        ['a1', 'b1'],
        ['a1', 'b1', 'a2'],
      ]),
      hasMemory: true,
      startZxid: 1_000_000n,
      faultPeriodMs: startMs + 4 * sessionTimeoutMs,
    },
    faults: faults.toSorted((one, other) => one.atMs - other.atMs),
  };
}
