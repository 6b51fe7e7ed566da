/**
 * Computes the maximum reaction time of a calm group from the run's own delays. A single limit for all runs
 * would be too strict for slow connections and too lax for fast ones.
 *
 * The unit is a leg: one message from one machine to another. A leg takes at most the run's longest delay.
 */
import type { Setup } from './setup.js';

/** Number of legs of a read: one for the request and one for the reply. */
const readLegs = 2;
/**
 * Number of consecutive reads in a round. The first read shows which znodes exist, and the second read shows
 * their contents.
 */
const turns = 2;
/**
 * Time for the parts of a reaction that need no legs: timers, successful hooks, the start of their
 * supervisors, and messages between them.
 */
const aroundMs = 1_000;
/** Maximum duration of a successful hook, including the start of its supervisor. */
export const hookMs = 300;

/**
 * Returns the number of legs until a write is answered. The legs are: to the server, on to its leader, to the
 * other servers, back to the leader, back to the server, and back to the client.
 */
function writeLegs({ servers }: Setup): number {
  return servers === 1 ? readLegs : 6;
}

/** Returns the maximum time until a write is answered. */
export function writeMs(setup: Setup): number {
  return writeLegs(setup) * setup.delays.mostMs;
}

/**
 * Returns the number of legs until watchers are notified of a commit. One leg goes from the leader to their
 * server, and one from that server to the watchers.
 */
function noticeLegs({ servers }: Setup): number {
  return servers === 1 ? 1 : 2;
}

/**
 * Returns the maximum time to react to a notification that arrives during a round. That round still reads and
 * writes. The next round reads, reads the ensemble's clock with a write, reads again, and writes.
 */
export function answerMs(setup: Setup): number {
  const roundLegs = turns * readLegs + writeLegs(setup);
  return (noticeLegs(setup) + 3 * roundLegs) * setup.delays.mostMs;
}

/** Returns the maximum time for one reaction, whatever else the node's machine is doing. */
export function promptMs(setup: Setup): number {
  return aroundMs + answerMs(setup);
}

/**
 * Returns the maximum time until a broken connection is restored. The new connection is opened and shakes
 * hands, for which the server queries its leader. One server may refuse the connection because it lags
 * behind. If there is only one server, a client pauses before it reconnects after a short connection.
 */
export function reconnectMs({ servers, delays, sessionTimeoutMs }: Setup): number {
  if (servers === 1) return 2 * readLegs * delays.mostMs + sessionTimeoutMs / 4;
  const refusedLegs = 2 * readLegs;
  return (refusedLegs + 3 * readLegs) * delays.mostMs;
}
