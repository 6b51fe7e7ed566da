/**
 * The ensemble's clock. A node reads it from its own writes, and extrapolates between readings on its own
 * monotonic clock.
 */
import { fromInstant } from '../model/names.js';
import type { FailureRecord } from '../model/znodes.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** One reading of the ensemble's clock. */
export interface ClockReading {
  /** The ensemble's clock at the reading, in milliseconds since the epoch. */
  readonly epochMs: number;
  /** When the answer arrived, on this node's monotonic clock. */
  readonly atMs: number;
}

/** For how long a reading counts as exact. It must not be older when a deadline is acted on. */
const exactForMs = 1000;
/** For how long a reading may be used while deadlines lie ahead, or to set one. */
const usableForMs = 60_000;

/** Readings of the ensemble's clock differ by less than this, unless the clock was set. */
export const unevennessMs = 10_000;

/**
 * Whether a failure lies ahead of `nowMs` on the ensemble's clock. The clock must then have been set back.
 */
export function isAhead({ failedAt }: Pick<FailureRecord, 'failedAt'>, nowMs: number): boolean {
  return fromInstant(failedAt) > nowMs + unevennessMs;
}

/**
 * Returns the ensemble's clock at `nowMs` (monotonic). It is never ahead by more than the difference in clock
 * rates.
 */
export function ensembleNowMs(reading: ClockReading, nowMs: number): number {
  return reading.epochMs + (nowMs - reading.atMs);
}

/** Whether the reading counts as exact. */
export function isExact(reading: ClockReading, nowMs: number): boolean {
  return nowMs - reading.atMs <= exactForMs;
}

/** Whether the reading is too old to extrapolate from, because clock rates differ. */
export function isOutdated(reading: ClockReading, nowMs: number): boolean {
  return nowMs - reading.atMs > usableForMs;
}

/** In UTC, from 0 to 1439. */
export function minuteOfDay(epochMs: number): number {
  return Math.floor(intoDayMs(epochMs) / minuteMs);
}

function intoDayMs(epochMs: number): number {
  return ((epochMs % dayMs) + dayMs) % dayMs;
}

/**
 * Returns the time from `epochMs` until the next of these minutes of the day begins. Null if there are none.
 */
export function nextMinuteInMs(minutes: readonly number[], epochMs: number): number | null {
  if (minutes.length === 0) return null;
  const waits = minutes.map((minute) => (minute * minuteMs - intoDayMs(epochMs) + dayMs) % dayMs || dayMs);
  return Math.min(...waits);
}
