/**
 * How soon a calm group acts on what it sees, at most: by the life's own delays. A judge that waits for as long in every
 * life is unjust where ways are slow, and blind where they are fast.
 *
 * Counted in legs: a leg is one way from one machine to another, which never takes longer than the slowest of the life.
 */
import type { Setup } from './setup.js';

/** There and back. */
const readLegs = 2;
/** What a round reads it reads in two turns: what there is, and what is in it. */
const turns = 2;
/** Timers, hooks that do well, their keepers' start, the word between them: what is no leg of what happens beside a reaction. */
const aroundMs = 1_000;
/** A hook that does what it is to do, with its keeper. */
export const hookMs = 300;

/** Until a write is answered: to the server, on to the leader, to the others and back, to the server, back. */
function writeLegs({ servers }: Setup): number {
  return servers === 1 ? readLegs : 6;
}

/** Until those who watch are told of what was agreed on: by the leader to their server, by that to them. */
function noticeLegs({ servers }: Setup): number {
  return servers === 1 ? 1 : 2;
}

/**
 * Somebody is told of something while a round of his is under way, which reads and writes; the next one reads, reads the
 * ensemble's clock by a write, reads again, and writes.
 */
export function answerMs(setup: Setup): number {
  const roundLegs = turns * readLegs + writeLegs(setup);
  return (noticeLegs(setup) + 3 * roundLegs) * setup.delays.mostMs;
}

/** One reaction, whatever else its machine does meanwhile. */
export function promptMs(setup: Setup): number {
  return aroundMs + answerMs(setup);
}

/** Until a connection stands again where it broke: it is opened, and shakes hands; one server may refuse, being behind. */
export function reconnectMs(setup: Setup): number {
  const handshakeLegs = readLegs + writeLegs(setup);
  return Math.min(2, setup.servers) * handshakeLegs * setup.delays.mostMs;
}
