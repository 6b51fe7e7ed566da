/** Parses measured scores, and decides whether a change is large enough to publish. */
import * as z from 'zod';
import { isLong, type Parsed } from '../model/names.js';
import { quoted } from '../model/outside.js';
import type { Score } from '../model/scores.js';

/**
 * Each digit can match this pattern in only one way. Very long input that is not a number therefore causes no
 * excessive backtracking.
 */
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const whole = /^[+-]?\d+$/;

/**
 * Parses a number in any form in which programs usually print numbers. Returns a bigint for a whole number
 * that a double would round.
 */
export function readScore(text: string): Parsed<Score> {
  const trimmed = text.trim();
  if (trimmed === '') return unreadable('expected one number, found nothing');
  if (!decimal.test(trimmed)) return unreadable(`expected one number, found ${quoted(trimmed)}`);
  const double = Number(trimmed);
  if (!Number.isFinite(double)) return unreadable(`${quoted(trimmed)} is too large`);
  if (Number.isSafeInteger(double) || !whole.test(trimmed)) return { value: double, problem: null };
  const digits = trimmed.replace(/^\+/, '');
  if (!isLong(digits)) return unreadable(`${quoted(trimmed)} has more than 64 bits`);
  return { value: BigInt(digits), problem: null };
}

function unreadable(problem: string): Parsed<Score> {
  return { value: null, problem };
}

const toleranceRule = 'expected a percentage such as 5%, or a number of at least 0';

/**
 * Amount by which a score must change before it is published again: either a share of the last published
 * value, or an absolute number.
 */
export const toleranceSchema = z.union(
  [
    z.number(toleranceRule).min(0, toleranceRule),
    z.string(toleranceRule).regex(/^\d{1,6}(?:\.\d{1,6})?%$/, toleranceRule),
  ],
  toleranceRule,
);
export type Tolerance = z.infer<typeof toleranceSchema>;

/**
 * Returns the default tolerance of a score. For a log position, the tolerance is 0, because a share of the
 * position does not show how much of the log is missing.
 */
export function defaultTolerance(name: string): Tolerance {
  return name === 'history' ? 0 : '5%';
}

export function hasMoved(before: Score, now: Score, tolerance: Tolerance): boolean {
  const limit =
    typeof tolerance === 'number'
      ? tolerance
      : (Math.abs(Number(before)) * Number(tolerance.slice(0, -1))) / 100;
  return Math.abs(difference(before, now)) > limit;
}

/** Returns `now - before`. Whole numbers of any size are subtracted without rounding. */
export function difference(before: Score, now: Score): number {
  const [a, b] = [exact(before), exact(now)];
  return a === null || b === null ? Number(now) - Number(before) : Number(b - a);
}

function exact(score: Score): bigint | null {
  if (typeof score === 'bigint') return score;
  return Number.isInteger(score) ? BigInt(score) : null;
}

/**
 * Thresholds for a change in a round-trip time. The change counts only if it exceeds both of them, because
 * any smaller change is noise.
 */
const roundTripShare = 0.1;
const roundTripFloorMs = 1;

export function hasRoundTripMoved(beforeMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - beforeMs) > Math.max(roundTripFloorMs, beforeMs * roundTripShare);
}
