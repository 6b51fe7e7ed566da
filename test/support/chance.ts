/** Reproducible randomness: everything is drawn from one seed, in the order of the calls. */

export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  odds(p: number): boolean;
  /** An integer from 0 to `n`, both included. */
  upTo(n: number): number;
  /** From `low` up to `high`. */
  between(low: number, high: number): number;
  /** A separate source: drawing from it does not shift what this one yields. */
  fork(): Chance;
}

/** mulberry32 */
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
