/**
 * Chance that can be had again: everything in a run is drawn from one seed, in the order in which it is asked
 * for.
 */
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** From 0 up to and without `n`, whole. */
  below(n: number): number;
  /** Puts `items` in an order in which each is as likely as any other. */
  shuffle(items: Int32Array): void;
}

/** The seed of one run: what else is run, in what order and by how many workers changes nothing in it. */
export function seedOf(seed: number, ...labels: readonly (string | number)[]): number {
  // FNV-1a
  let hash = 0x811c9dc5;
  for (const character of [seed, ...labels].join('/')) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return hash | 0;
}

export function randomFrom(seed: number): Random {
  // Its first numbers tell of the state as it is: seeds that are alike must not begin alike.
  const generator = xoroshiro128plusFromState([1, 2, 3, 4].map((word) => mixed(seed + word * 0x9e3779b9)));
  const next = () => (generator.next() >>> 0) / 2 ** 32;
  const below = (n: number) => Math.floor(next() * n);
  return { next, below, shuffle: (items) => shuffle(items, below) };
}

/** The finalizer of MurmurHash3: every bit of the seed stirs every bit of the word. */
function mixed(word: number): number {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}

/** Fisher and Yates. */
function shuffle(items: Int32Array, below: Random['below']): void {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = below(last + 1);
    const kept = items[last] ?? 0;
    items[last] = items[other] ?? 0;
    items[other] = kept;
  }
}
