/**
 * Draws runs in which the leader's agent freezes once, for about half a session timeout. The agent continues
 * before its session ends, but has lost its lease.
 */
import { groupConfigSchema } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import { whoLeads } from './faults.js';
import { at, hasDigits, plain, type ScriptedRun, settledMs } from './scripted-run.js';
import type { Setup } from './setup.js';

const digits = 13;

export function hasStalls(seed: number): boolean {
  return hasDigits(seed, digits);
}

export function stallLifeOf({ between }: Chance, setup: Setup): ScriptedRun {
  const { sessionTimeoutMs } = setup;
  const config = groupConfigSchema.parse({ ...setup.config, backoff: { base: '10s', max: '2m' } });
  const forMs = Math.round(between(0.4, 0.6) * sessionTimeoutMs);
  const atMs = settledMs + between(0, 0.5) * sessionTimeoutMs;
  return {
    setup: {
      ...setup,
      ...plain,
      nodes: ['a1', 'b1', 'a2'],
      delays: { leastMs: 0.2, mostMs: 2 },
      config,
      maxLeaseLosses: 1,
      faultPeriodMs: settledMs + 5 * sessionTimeoutMs,
    },
    faults: [at(atMs, { kind: 'freeze agent', node: whoLeads, forMs })],
  };
}
