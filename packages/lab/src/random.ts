/**
 * Reproducible randomness: all random values of a run come from one seed, in the order in which they are
 * requested.
 */
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

export interface Random {
  /** Returns a number in the range from 0 to 1, excluding 1. */
  next(): number;
  /** Returns a whole number in the range from 0 to `n`, excluding `n`. */
  below(n: number): number;
  /** Shuffles `items`. Every order is equally likely. */
  shuffle(items: Int32Array): void;
}

/**
 * Returns the seed of one run. It does not depend on other runs, on their order, or on the number of workers.
 */
export function seedOf(seed: number, ...labels: readonly (string | number)[]): number {
  // The hash is FNV-1a.
  let hash = 0x811c9dc5;
  for (const character of [seed, ...labels].join('/')) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return hash | 0;
}

export function randomFrom(seed: number): Random {
  // The first numbers that the generator returns reflect its initial state directly. The seed is therefore
  // mixed, so that similar seeds give dissimilar states.
  const generator = xoroshiro128plusFromState([1, 2, 3, 4].map((word) => mixed(seed + word * 0x9e3779b9)));
  const next = () => (generator.next() >>> 0) / 2 ** 32;
  const below = (n: number) => Math.floor(next() * n);
  return { next, below, shuffle: (items) => shuffle(items, below) };
}

/** The finalizer of MurmurHash3: every bit of the input affects every bit of the result. */
function mixed(word: number): number {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}

/** Shuffles the items with the Fisher–Yates algorithm. */
function shuffle(items: Int32Array, below: Random['below']): void {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = below(last + 1);
    const kept = items[last] ?? 0;
    items[last] = items[other] ?? 0;
    items[other] = kept;
  }
}
