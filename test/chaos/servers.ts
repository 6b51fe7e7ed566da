/**
 * Draws in what the servers of a run differ. In a rolling change of the ensemble, some servers already have
 * another tick time, or another limit on session timeouts. A session that moves to such a server gets another
 * timeout.
 */
import type { ServerOptions } from '../support/zookeeper/server.js';
import { type Random, randomFrom } from './random.js';
import type { Scale } from './scale.js';

export type ServerTimes = Required<Pick<ServerOptions, 'tickTimeMs'>> &
  Pick<ServerOptions, 'maxSessionTimeoutMs'>;

const count = 3;

/**
 * Returns the times of each server. In half of all runs, the servers differ. Then at least one of them grants
 * the session timeout that the agents request, and at least one grants less.
 */
export function serversOf(
  seed: number,
  { sessionTimeoutMs }: Pick<Scale, 'sessionTimeoutMs'>,
): ServerTimes[] {
  // Servers' own timeouts are multiples of the tick, so they grow with the session timeout, too.
  const usual = { tickTimeMs: Math.round(sessionTimeoutMs / 12) };
  // With this factor, the servers are alike in the runs of the tests and of docs/reports/chaos.md.
  const random = randomFrom(seed * 15_486_257);
  if (random.next() < 0.5) return Array.from({ length: count }, () => usual);
  const full = random.between(0, count - 1);
  const less = (full + random.between(1, count - 1)) % count;
  return Array.from({ length: count }, (_, index): ServerTimes => {
    const ticks = { tickTimeMs: Math.round(sessionTimeoutMs / random.pick([8, 12])) };
    const grantsLess = index === less || (index !== full && random.next() < 0.5);
    return grantsLess ? { ...ticks, maxSessionTimeoutMs: limitOf(random, sessionTimeoutMs) } : ticks;
  });
}

function limitOf(random: Random, sessionTimeoutMs: number): number {
  return Math.round(sessionTimeoutMs * (0.6 + 0.3 * random.next()));
}

/** Formats the servers' times for display. */
export function serversText(servers: readonly ServerTimes[]): string {
  return `servers: ${servers
    .map(({ tickTimeMs, maxSessionTimeoutMs }) => {
      const most = maxSessionTimeoutMs === undefined ? '' : `, sessions of at most ${maxSessionTimeoutMs} ms`;
      return `tick ${tickTimeMs} ms${most}`;
    })
    .join('; ')}`;
}
