/**
 * Draws runs in which the leader is repeatedly disconnected, each time for longer than its lease and for less
 * than its session timeout. In some of these runs, every other node is disconnected, too. In all other runs,
 * a node hardly ever loses two leases while its failures are remembered.
 */
import { groupConfigSchema } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import { bystander, whoElects, whoLeads } from './faults.js';
import { at, hasDigits, plain, type ScriptedRun, settledMs } from './scripted-run.js';
import type { Setup } from './setup.js';

/**
 * Remainder, modulo 50, of the seeds of these runs. No other scripted run has this remainder, nor do the
 * runs that step through calls.
 */
const digits = 43;

export function hasLeaseLosses(seed: number): boolean {
  return hasDigits(seed, digits);
}

export function leaseLossLifeOf({ between, odds }: Chance, setup: Setup): ScriptedRun {
  const { sessionTimeoutMs } = setup;
  const config = groupConfigSchema.parse({ ...setup.config, backoff: { base: '10s', max: '2m' } });
  const isForAll = odds(0.3);
  const faults = [0, 1, 2].flatMap((turn) => {
    const atMs = settledMs + (turn * 3 + between(0, 0.2)) * sessionTimeoutMs;
    const forMs = between(0.5, 0.6) * sessionTimeoutMs;
    const cutOff = isForAll ? [whoLeads, whoElects, bystander] : [whoLeads];
    return cutOff.map((node) =>
      at(atMs, { kind: 'cut', node, server: null, direction: 'both', forMs: Math.round(forMs) }),
    );
  });
  return {
    setup: {
      ...setup,
      ...plain,
      nodes: ['a1', 'b1', 'a2'],
      config,
      faultPeriodMs: settledMs + 10 * sessionTimeoutMs,
    },
    faults,
  };
}
