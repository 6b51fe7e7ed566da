/** Reads or estimates the ensemble's clock in a process that is not an agent. */

import { type ClockReading, ensembleNowMs } from '../core/ensemble-clock.js';
import { durationMs } from '../model/duration.js';
import type { GroupPaths } from '../model/paths.js';
import type { Clock } from '../ports/clock.js';
import { isStoreError, type Store } from '../ports/store.js';
import type { GroupView } from './view.js';

/**
 * Reads the ensemble's clock through a write that triggers no watches. The group must exist. Throws
 * StoreError.
 */
export async function readEnsembleClock(
  store: Store,
  paths: GroupPaths,
  clock: Clock,
): Promise<ClockReading> {
  for (;;) {
    try {
      const { mtimeMs } = await store.set(paths.clock, Buffer.alloc(0), 'any');
      return { epochMs: mtimeMs, atMs: clock.monotonicMs() };
    } catch (error) {
      if (!isStoreError(error, 'NO_NODE')) throw error;
    }
    try {
      await store.create(paths.clock, Buffer.alloc(0), 'persistent');
    } catch (error) {
      if (!isStoreError(error, 'NODE_EXISTS')) throw error;
    }
  }
}

/**
 * Reads the ensemble's clock. If this process is not allowed to write, returns the time of the newest change
 * in `view`. The current time cannot be earlier. Throws StoreError.
 */
export async function readOrEstimateClock(
  store: Store,
  view: GroupView,
  clock: Clock,
): Promise<ClockReading> {
  try {
    return await readEnsembleClock(store, view.paths, clock);
  } catch (error) {
    if (!isStoreError(error, 'NO_AUTH')) throw error;
    return { epochMs: view.newestChangeMs, atMs: clock.monotonicMs() };
  }
}

/**
 * Age in milliseconds after which the clock is read again. Readings are reused because each reading requires
 * a write.
 */
const readingAgeMs = 60_000;

/** The ensemble's clock for a process that reads it repeatedly. */
export class KeptClock {
  readonly #clock: Clock;
  #reading: ClockReading | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the current time in milliseconds since the epoch. Computes it from a recent reading if there is
   * one. Otherwise, calls `readOrEstimateClock`.
   */
  async nowMs(store: Store, view: GroupView): Promise<number> {
    if (this.#reading === null || this.#clock.monotonicMs() - this.#reading.atMs > readingAgeMs) {
      this.#reading = await readOrEstimateClock(store, view, this.#clock);
    }
    return ensembleNowMs(this.#reading, this.#clock.monotonicMs());
  }
}

const instantPattern = /^(?<day>\d{4}-\d\d-\d\d)T[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** Whether the day exists. The date parser silently converts 30 February to 2 March. */
function isDay(day: string): boolean {
  const parsed = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day);
}

/**
 * Parses a point in time, written as an instant with its time zone or as a duration from now. Returns a
 * function that maps the current time to that point, both in milliseconds since the epoch. Throws a
 * RangeError that says what is expected.
 */
export function readPointInTime(text: string): (nowMs: number) => number {
  if (/^\d{4}-/.test(text)) {
    const atMs = Date.parse(text);
    const { day } = instantPattern.exec(text)?.groups ?? {};
    if (day !== undefined && !isDay(day)) throw new RangeError(`${day} is not a valid date`);
    if (day !== undefined && !Number.isNaN(atMs)) return () => atMs;
    throw new RangeError(
      'expected a timestamp with time zone, such as 2026-01-31T02:00:00Z or 2026-01-31T02:00:00+01:00',
    );
  }
  try {
    const lengthMs = durationMs(text, { minMs: 1 });
    return (nowMs) => nowMs + lengthMs;
  } catch {
    throw new RangeError(
      'expected a timestamp, such as 2026-01-31T02:00:00Z, or a duration from now, such as 30m',
    );
  }
}
