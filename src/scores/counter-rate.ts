/** How fast counters grow: over a while, since a rate between two looks is mostly noise. */
import { difference } from '../core/measuring.js';
import type { Score } from '../core/scores.js';

/** Counters by their series, as they stood at one instant of a monotonic clock. */
export interface CounterReading {
  readonly atMs: number;
  readonly counters: ReadonlyMap<string, Score>;
}

export class CounterRate {
  readonly #windowMs: number;
  #readings: readonly CounterReading[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** The growth of all of them a second, over the window; null while there was only one reading in it. */
  add(reading: CounterReading): number | null {
    const sinceMs = reading.atMs - this.#windowMs;
    this.#readings = [...this.#readings.filter(({ atMs }) => atMs >= sinceMs), reading];
    const [first, ...later] = this.#readings;
    if (first === undefined || reading.atMs <= first.atMs) return null;
    const grown = later.reduce((sum, next, index) => sum + growth(this.#readings[index] ?? first, next), 0);
    return (grown * 1000) / (reading.atMs - first.atMs);
  }
}

/** A counter that fell began anew at 0. What a series that is new had counted before is not known. */
function growth(before: CounterReading, after: CounterReading): number {
  return [...after.counters].reduce((sum, [series, now]) => {
    const was = before.counters.get(series);
    if (was === undefined) return sum;
    const more = difference(was, now);
    return sum + (more < 0 ? Number(now) : more);
  }, 0);
}
