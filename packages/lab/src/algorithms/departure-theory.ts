/**
 * The time from the leader's departure to agreement on the next leader, if receivers lose messages
 * independently of each other. Derived: the sources available to this project give only the time under
 * correlated loss.
 */
import { type Conditions, listenMs, meanDelayMs } from '../conditions.js';
import { drawWait } from './suppression-theory.js';

/** A possible instant, and its probability. */
interface Chance {
  readonly atMs: number;
  readonly share: number;
}

/** Midpoints of equal parts of the range from 0 to 1. */
const midpoints = Array.from({ length: 24 }, (_, index) => (index + 0.5) / 24);

/**
 * Returns the mean time from a departure with `byes` Byes to agreement. If `byes` is 0, the departure is a
 * crash. The nodes agree when each of them has given up the old leader and heard the next one. The next
 * leader is the highest of the other nodes. It must first give up the old leader itself, and then waits.
 */
export function uncorrelatedDepartureMs(waits: boolean, given: Conditions, byes: number): number {
  const { announceMs, suppressMs, suppressRate } = given;
  const waitsMs = waits ? midpoints.map((drawn) => drawWait(drawn, suppressRate) * suppressMs) : [0];
  const means = midpoints.flatMap((phase) => {
    const givesUp = givingUp(given, byes, phase * announceMs);
    return waitsMs.map((waitMs) =>
      givesUp.reduce((sum, { atMs, share }) => sum + share * agreedMs(given, givesUp, atMs + waitMs), 0),
    );
  });
  return means.reduce((sum, mean) => sum + mean, 0) / means.length;
}

/**
 * Returns the possible instants at which a node gives up the leader: when it hears a Bye, or TL after the
 * last announcement that it has heard. `sinceMs` is the time from the leader's last announcement to its
 * departure.
 */
function givingUp(given: Conditions, byes: number, sinceMs: number): Chance[] {
  const { announceMs, loss, delay } = given;
  const missed = loss ** byes;
  const deltaMs = meanDelayMs(delay);
  const mostLost = Math.floor(listenMs(given) / announceMs) - 1;
  const silent = Array.from({ length: mostLost + 1 }, (_, lost): Chance => {
    const atMs = listenMs(given) + deltaMs - sinceMs - lost * announceMs;
    // Losing even more announcements in a row is too rare to matter.
    const share = lost === mostLost ? loss ** lost : (1 - loss) * loss ** lost;
    return { atMs, share: missed * share };
  });
  return missed === 1 ? silent : [{ atMs: deltaMs, share: 1 - missed }, ...silent];
}

/** Returns the mean instant at which all nodes agree on the next leader, which leads from `leadsMs` on. */
function agreedMs(given: Conditions, givesUp: readonly Chance[], leadsMs: number): number {
  const followers = given.nodes - 2;
  if (followers === 0) return leadsMs;
  const steps = [
    ...givesUp.map(({ atMs, share }) => ({ atMs, gaveUp: share, heard: 0 })),
    ...hearing(given, followers, leadsMs).map(({ atMs, share }) => ({ atMs, gaveUp: 0, heard: share })),
  ].toSorted((a, b) => a.atMs - b.atMs);
  let [gaveUp, heard, agreed, sum] = [0, 0, 0, 0];
  for (const step of steps) {
    gaveUp += step.gaveUp;
    heard += step.heard;
    const all = (gaveUp * heard) ** followers;
    sum += step.atMs * (all - agreed);
    agreed = all;
  }
  return sum / agreed;
}

/** Returns the possible instants at which a node first hears the next leader. */
function hearing({ announceMs, loss, delay }: Conditions, followers: number, leadsMs: number): Chance[] {
  const chances: Chance[] = [];
  for (let lost = 0; lost === 0 || followers * loss ** lost > 1e-6; lost += 1) {
    const atMs = leadsMs + meanDelayMs(delay) + lost * announceMs;
    chances.push({ atMs, share: (1 - loss) * loss ** lost });
  }
  return chances;
}
