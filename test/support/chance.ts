/** Reproducible randomness: all values come from one seed, in the order of the calls. */

export interface Chance {
  /** Returns a number from 0 (included) to 1 (excluded). */
  next(): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  odds(p: number): boolean;
  /** Returns an integer from 0 to `n`, both included. */
  upTo(n: number): number;
  /** Returns a number from `low` to `high`. */
  between(low: number, high: number): number;
  /** Returns a separate source. Drawing from it does not change what this source yields. */
  fork(): Chance;
}

/** Creates a source that uses the mulberry32 generator. */
export function chance(seed: number): Chance {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
    odds: (p) => next() < p,
    upTo: (n) => Math.floor(next() * (n + 1)),
    between: (low, high) => low + next() * (high - low),
    fork: () => chance(Math.floor(next() * 2 ** 32)),
  };
}
