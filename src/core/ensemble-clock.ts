/**
 * The ensemble's clock. A node reads this clock through its own writes. Between readings, the node
 * extrapolates with its own monotonic clock.
 */
import { fromInstant } from '../model/names.js';
import type { FailureRecord } from '../model/znodes.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** One reading of the ensemble's clock. */
export interface ClockReading {
  /** The ensemble's clock at the time of the reading, in milliseconds since the epoch. */
  readonly epochMs: number;
  /** Instant at which the answer arrived, on this node's monotonic clock. */
  readonly atMs: number;
}

/** Time for which a reading counts as exact. A decision that acts on a deadline requires an exact reading. */
const exactForMs = 1000;
/**
 * Time for which a reading may be used to set a deadline, or to make a decision while all deadlines are in
 * the future.
 */
const usableForMs = 60_000;

/**
 * Largest amount by which the ensemble's clock may appear to go back between two readings, unless the clock
 * was set back.
 */
export const unevennessMs = 10_000;

/**
 * Whether a failure is in the future at `nowMs` on the ensemble's clock. If it is, the clock must have been
 * set back.
 */
export function isAhead({ failedAt }: Pick<FailureRecord, 'failedAt'>, nowMs: number): boolean {
  return fromInstant(failedAt) > nowMs + unevennessMs;
}

/**
 * Returns the ensemble's clock at `nowMs` (monotonic). The result is ahead of the ensemble's clock by at most
 * the drift between the two clocks.
 */
export function ensembleNowMs(reading: ClockReading, nowMs: number): number {
  return reading.epochMs + (nowMs - reading.atMs);
}

/** Whether the reading counts as exact. */
export function isExact(reading: ClockReading, nowMs: number): boolean {
  return nowMs - reading.atMs <= exactForMs;
}

/** Whether the reading is too old for extrapolation. Clock rates differ, so the error grows with time. */
export function isOutdated(reading: ClockReading, nowMs: number): boolean {
  return nowMs - reading.atMs > usableForMs;
}

/** Returns the minute of the day in UTC, from 0 to 1439. */
export function minuteOfDay(epochMs: number): number {
  return Math.floor(intoDayMs(epochMs) / minuteMs);
}

function intoDayMs(epochMs: number): number {
  return ((epochMs % dayMs) + dayMs) % dayMs;
}

/**
 * Returns the time from `epochMs` until the next of these minutes of the day begins. Returns null if
 * `minutes` is empty.
 */
export function nextMinuteInMs(minutes: readonly number[], epochMs: number): number | null {
  if (minutes.length === 0) return null;
  const waits = minutes.map((minute) => (minute * minuteMs - intoDayMs(epochMs) + dayMs) % dayMs || dayMs);
  return Math.min(...waits);
}
