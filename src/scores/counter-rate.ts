/**
 * Measures how fast counters grow. The rate is computed over a window, because a rate between two readings is
 * mostly noise.
 */

import type { Score } from '../model/scores.js';
import { difference } from './measuring.js';

type Counters = ReadonlyMap<string, Score>;

/** Counters, keyed by series, as read at one instant of a monotonic clock. */
export interface CounterReading {
  readonly atMs: number;
  readonly counters: Counters;
}

interface Grown {
  readonly atMs: number;
  /** Growth of the counters since the previous reading. */
  readonly by: number;
}

export class CounterRate {
  readonly #windowMs: number;
  /**
   * Counters of the last reading. Earlier ones are not kept, because a page may have a very large number of
   * series.
   */
  #counters: Counters = new Map();
  #grown: readonly Grown[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /**
   * Records a reading. Returns the total growth per second of all counters over the window, or null while the
   * window contains only one reading.
   */
  add({ atMs, counters }: CounterReading): number | null {
    const inWindow = this.#grown.filter((one) => one.atMs >= atMs - this.#windowMs);
    this.#grown = [...inWindow, { atMs, by: growth(this.#counters, counters) }];
    this.#counters = counters;
    const [first, ...later] = this.#grown;
    if (first === undefined || atMs <= first.atMs) return null;
    return (later.reduce((sum, { by }) => sum + by, 0) * 1000) / (atMs - first.atMs);
  }
}

/**
 * Returns the growth of all counters together. A counter that has decreased is assumed to have restarted at
 * 0. A new series does not count, because its growth before its first reading is unknown.
 */
function growth(before: Counters, after: Counters): number {
  return [...after].reduce((sum, [series, now]) => {
    const was = before.get(series);
    if (was === undefined) return sum;
    const more = difference(was, now);
    return sum + (more < 0 ? Number(now) : more);
  }, 0);
}
