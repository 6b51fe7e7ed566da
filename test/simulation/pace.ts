/**
 * Computes how soon a calm group reacts at most, from the run's own delays. One limit for all runs would be
 * unfair with slow connections and too lax with fast ones.
 *
 * The unit is a leg: one message from one machine to another, which takes at most the run's longest delay.
 */
import type { Setup } from './setup.js';

/** Request and reply. */
const readLegs = 2;
/** A round reads in two turns: first which znodes exist, then their contents. */
const turns = 2;
/**
 * Allowance for what happens in addition to a reaction's legs: timers, successful hooks, the start of their
 * supervisors, and messages between them.
 */
const aroundMs = 1_000;
/** A successful hook, with its supervisor. */
export const hookMs = 300;

/**
 * Legs until a write is answered: to the server, to its leader, to the others and back, to the server, back.
 */
function writeLegs({ servers }: Setup): number {
  return servers === 1 ? readLegs : 6;
}

/** Time until a write is answered. */
export function writeMs(setup: Setup): number {
  return writeLegs(setup) * setup.delays.mostMs;
}

/** Legs until watchers are notified of a commit: from the leader to their server, from there to them. */
function noticeLegs({ servers }: Setup): number {
  return servers === 1 ? 1 : 2;
}

/**
 * Time to react to a notification that arrives during a round, which reads and writes. The next round reads,
 * reads the ensemble's clock with a write, reads again, and writes.
 */
export function answerMs(setup: Setup): number {
  const roundLegs = turns * readLegs + writeLegs(setup);
  return (noticeLegs(setup) + 3 * roundLegs) * setup.delays.mostMs;
}

/** Time for one reaction, whatever else its machine does in the meantime. */
export function promptMs(setup: Setup): number {
  return aroundMs + answerMs(setup);
}

/**
 * Time until a broken connection is restored: it is opened, then shakes hands, for which the server queries
 * its leader. One server may refuse because it lags behind. With only one server, a client whose connection
 * was short pauses first.
 */
export function reconnectMs({ servers, delays, sessionTimeoutMs }: Setup): number {
  if (servers === 1) return 2 * readLegs * delays.mostMs + sessionTimeoutMs / 4;
  const refusedLegs = 2 * readLegs;
  return (refusedLegs + 3 * readLegs) * delays.mostMs;
}
