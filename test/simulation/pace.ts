/**
 * How soon a calm group acts on what it sees, at most: by the life's own delays. A judge that waits for as
 * long in every life is unjust where ways are slow, and blind where they are fast.
 *
 * Counted in legs: a leg is one way from one machine to another, which never takes longer than the slowest of
 * the life.
 */
import type { Setup } from './setup.js';

/** There and back. */
const readLegs = 2;
/** What a round reads it reads in two turns: what there is, and what is in it. */
const turns = 2;
/**
 * Timers, hooks that do well, their supervisors' start, the word between them: what is no leg of what happens
 * beside a reaction.
 */
const aroundMs = 1_000;
/** A hook that does what it is to do, with its supervisor. */
export const hookMs = 300;

/**
 * Until a write is answered: to the server, on to the leader, to the others and back, to the server, back.
 */
function writeLegs({ servers }: Setup): number {
  return servers === 1 ? readLegs : 6;
}

/** Until a write is answered. */
export function writeMs(setup: Setup): number {
  return writeLegs(setup) * setup.delays.mostMs;
}

/** Until those who watch are told of what was agreed on: by the leader to their server, by that to them. */
function noticeLegs({ servers }: Setup): number {
  return servers === 1 ? 1 : 2;
}

/**
 * Somebody is told of something while a round of his is under way, which reads and writes; the next one
 * reads, reads the ensemble's clock by a write, reads again, and writes.
 */
export function answerMs(setup: Setup): number {
  const roundLegs = turns * readLegs + writeLegs(setup);
  return (noticeLegs(setup) + 3 * roundLegs) * setup.delays.mostMs;
}

/** One reaction, whatever else its machine does meanwhile. */
export function promptMs(setup: Setup): number {
  return aroundMs + answerMs(setup);
}

/**
 * Until a connection stands again where it broke: it is opened, and shakes hands, of which the server asks
 * its leader; one server may refuse, being behind. Where there is but one, a client whose connection stood
 * for a moment only pauses first.
 */
export function reconnectMs({ servers, delays, sessionTimeoutMs }: Setup): number {
  if (servers === 1) return 2 * readLegs * delays.mostMs + sessionTimeoutMs / 4;
  const refusedLegs = 2 * readLegs;
  return (refusedLegs + 3 * readLegs) * delays.mostMs;
}
