/**
 * The ensemble's clock, which a node knows by reading it off a write of its own, and counts on from there on
 * its own monotonic clock.
 */
import { fromInstant } from '../model/names.js';
import type { FailureRecord } from '../model/znodes.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** One reading of the ensemble's clock. */
export interface ClockReading {
  /** What the ensemble's clock said, milliseconds since the epoch. */
  readonly epochMs: number;
  /** When the answer was here, on this node's monotonic clock. */
  readonly atMs: number;
}

/** A reading is trusted as exact for so long; before a limit is acted on it must not be older. */
const exactForMs = 1000;
/** While limits lie ahead, and where one is set, no reading is used longer than this. */
const usableForMs = 60_000;

/** Readings of the ensemble's clock differ by less, unless it was set. */
export const unevennessMs = 10_000;

/** Whether a failure lies ahead of `nowMs` on the ensemble's clock, which must have been set then. */
export function isAhead({ failedAt }: Pick<FailureRecord, 'failedAt'>, nowMs: number): boolean {
  return fromInstant(failedAt) > nowMs + unevennessMs;
}

/** The ensemble's clock at `nowMs` (monotonic), never ahead of it by more than the difference in rates. */
export function ensembleNowMs(reading: ClockReading, nowMs: number): number {
  return reading.epochMs + (nowMs - reading.atMs);
}

/** Trusted as exact. */
export function isExact(reading: ClockReading, nowMs: number): boolean {
  return nowMs - reading.atMs <= exactForMs;
}

/** Too old to count from: the clocks' rates differ. */
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

/** How long until the next of some minutes of the day begins, after `epochMs`; null without any. */
export function nextMinuteInMs(minutes: readonly number[], epochMs: number): number | null {
  if (minutes.length === 0) return null;
  const waits = minutes.map((minute) => (minute * minuteMs - intoDayMs(epochMs) + dayMs) % dayMs || dayMs);
  return Math.min(...waits);
}
