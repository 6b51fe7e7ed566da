/**
 * The oracles with which POLE compares processes. An oracle gives each process a score in each epoch. The
 * source is D. Becker et al. (2011).
 */
import { randomFrom } from '../random.js';

/** Returns a process's score in an epoch. A higher score is better. */
export type Oracle = (id: number, epoch: number) => number;

export const oracles: Readonly<
  Record<'history' | 'rotating' | 'latency', (n: number, seed: number) => Oracle>
> = {
  /** Scores a process by the length of its log, which is drawn at random. */
  history: (n, seed) => {
    const random = randomFrom(seed);
    const lengths = Int32Array.from({ length: n }, () => random.below(1000));
    return (id) => lengths[id] ?? 0;
  },
  /** Gives the score 1 to one process per epoch, in rotation, and 0 to the others. */
  rotating: (n) => (id, epoch) => (epoch % n === id ? 1 : 0),
  /**
   * Gives a process a better score if it needs less time to reach a quorum. Processes are placed at random on
   * a square.
   */
  latency: (n, seed) => {
    const random = randomFrom(seed);
    const places = Array.from({ length: n }, () => [random.next(), random.next()] as const);
    const known = new Map<number, number>();
    return (id) => {
      const score = known.get(id) ?? -quorumDistance(places, id);
      known.set(id, score);
      return score;
    };
  },
};

function quorumDistance(places: readonly (readonly [number, number])[], id: number): number {
  const [x, y] = places[id] ?? [0, 0];
  const distances = Float64Array.from(places, ([otherX, otherY]) => Math.hypot(x - otherX, y - otherY));
  return distances.sort()[Math.floor(places.length / 2)] ?? 0;
}
