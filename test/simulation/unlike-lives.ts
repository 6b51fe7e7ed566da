/**
 * Draws runs during a rolling change of the ensemble, in which servers differ in ticks and session timeout
 * limits. A session that was opened at one server moves to another server. After that, one of two faults
 * happens. Either the ensemble's leader is lost and the node is cut off with it. Or the second server's reply
 * is lost, together with everything that comes after it.
 *
 * Every tick is at most half of the smallest timeout. A server whose reply is lost grants at least half of
 * the timeout that other servers grant. No server grants less than 80 of the longest delays, because a leader
 * cannot renew a lease that is too short for the network. It then takes over and releases again and again,
 * until its session ends.
 */
import type { Chance } from '../support/chance.js';
import { type Direction, ensembleLeader, type Fault, whoLeads } from './faults.js';
import { at, hasDigits, plain, type ScriptedRun, settledMs } from './scripted-run.js';
import type { ServerConfig, Setup } from './setup.js';

const digits = 33;
/** Minimum ratio of a granted timeout to the longest delay of a message. It is that of all other runs. */
const leastDelays = 80;

export function hasUnlikeServers(seed: number): boolean {
  return hasDigits(seed, digits);
}

export function unlikeServersLifeOf({ between, odds, pick, upTo }: Chance, setup: Setup): ScriptedRun {
  const { sessionTimeoutMs } = setup;
  const tickMs = sessionTimeoutMs / 8;
  // Whether the reply of the server that resumes the session is lost, together with everything that comes
  // after it.
  const isUnheard = odds(0.4);
  const usual = upTo(2);
  const unlike = [0, 1, 2].map((server): ServerConfig => {
    const ticks = { tickMs: pick([tickMs, tickMs / 2]) };
    if (server === usual || odds(0.4)) return ticks;
    return {
      ...ticks,
      maxSessionTimeoutMs: Math.round((isUnheard ? 0.5 : between(0.25, 0.6)) * sessionTimeoutMs),
    };
  });
  const grantedMs = ({ maxSessionTimeoutMs = sessionTimeoutMs }: ServerConfig) => maxSessionTimeoutMs;
  const faults = [0, 1, 2].flatMap((turn) => {
    const atMs = settledMs + turn * 5 * sessionTimeoutMs;
    const forMs = Math.round(1.5 * sessionTimeoutMs);
    const cut = (direction: Direction): Fault => ({
      kind: 'cut',
      node: whoLeads,
      server: null,
      direction,
      forMs,
    });
    const reset = at(atMs, { kind: 'reset', node: whoLeads, forMs: 0 });
    if (isUnheard) return [reset, at(atMs + between(1.5, 4) * setup.delays.mostMs, cut('back'))];
    const lostMs = atMs + between(0.6, 1.2) * sessionTimeoutMs;
    return [
      reset,
      ...(odds(0.5) ? [at(atMs + 0.3 * sessionTimeoutMs, reset.fault)] : []),
      ...(odds(0.8) ? [at(lostMs, cut('both'))] : []),
      at(lostMs, { kind: 'kill server', server: ensembleLeader, forMs }),
    ];
  });
  return {
    setup: {
      ...setup,
      ...plain,
      nodes: ['a1', 'b1', 'a2'],
      servers: 3,
      // These rates make leases seem longest and sessions shortest.
      rates: { nodes: 0.955, servers: 1.045 },
      tickMs,
      unlike,
      delays: shortened(setup.delays, Math.min(...unlike.map(grantedMs)) / leastDelays),
      faultPeriodMs: settledMs + 16 * sessionTimeoutMs,
    },
    faults,
  };
}

function shortened({ leastMs, mostMs }: Setup['delays'], limitMs: number): Setup['delays'] {
  return { leastMs: Math.min(leastMs, limitMs / 2), mostMs: Math.min(mostMs, limitMs) };
}
