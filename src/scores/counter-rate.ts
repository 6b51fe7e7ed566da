/** How fast counters grow: over a while, since a rate between two looks is mostly noise. */
import { difference } from '../core/measuring.js';
import type { Score } from '../model/scores.js';

type Counters = ReadonlyMap<string, Score>;

/** Counters by their series, as they stood at one instant of a monotonic clock. */
export interface CounterReading {
  readonly atMs: number;
  readonly counters: Counters;
}

interface Grown {
  readonly atMs: number;
  /** Since the reading before. */
  readonly by: number;
}

export class CounterRate {
  readonly #windowMs: number;
  /** Of a page with very many series only the last reading is kept. */
  #counters: Counters = new Map();
  #grown: readonly Grown[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** The growth of all of them a second, over the window; null while there was only one reading in it. */
  add({ atMs, counters }: CounterReading): number | null {
    const inWindow = this.#grown.filter((one) => one.atMs >= atMs - this.#windowMs);
    this.#grown = [...inWindow, { atMs, by: growth(this.#counters, counters) }];
    this.#counters = counters;
    const [first, ...later] = this.#grown;
    if (first === undefined || atMs <= first.atMs) return null;
    return (later.reduce((sum, { by }) => sum + by, 0) * 1000) / (atMs - first.atMs);
  }
}

/** A counter that fell began anew at 0. What a series that is new had counted before is not known. */
function growth(before: Counters, after: Counters): number {
  return [...after].reduce((sum, [series, now]) => {
    const was = before.get(series);
    if (was === undefined) return sum;
    const more = difference(was, now);
    return sum + (more < 0 ? Number(now) : more);
  }, 0);
}
