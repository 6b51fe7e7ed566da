/** One score as it is measured: what text is a number, and what is a change worth telling. */
import * as z from 'zod';
import { isLong, type Parsed } from '../model/names.js';
import { quoted } from '../model/outside.js';
import type { Score } from '../model/scores.js';

/** Digits can be taken in one way alone, or a very long text that is none would be tried in all. */
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const whole = /^[+-]?\d+$/;

/**
 * A number as programs write it. A whole number is kept exactly, as a bigint where a double would round it.
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

const toleranceRule = 'expected a share such as 5%, or a number of at least 0';

/**
 * What a score must move by to be told anew: more than a share of what was told last, or than an absolute
 * number.
 */
export const toleranceSchema = z.union(
  [
    z.number(toleranceRule).min(0, toleranceRule),
    z.string(toleranceRule).regex(/^\d{1,6}(?:\.\d{1,6})?%$/, toleranceRule),
  ],
  toleranceRule,
);
export type Tolerance = z.infer<typeof toleranceSchema>;

/** A share of a position in a log says nothing of how much of the log is missing. */
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

/** By how much `now` is more; between whole numbers no digit is lost, however large they are. */
export function difference(before: Score, now: Score): number {
  const [a, b] = [exact(before), exact(now)];
  return a === null || b === null ? Number(now) - Number(before) : Number(b - a);
}

function exact(score: Score): bigint | null {
  if (typeof score === 'bigint') return score;
  return Number.isInteger(score) ? BigInt(score) : null;
}

/** A time there and back that moves by less than both is noise. */
const roundTripShare = 0.1;
const roundTripFloorMs = 1;

export function hasRoundTripMoved(beforeMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - beforeMs) > Math.max(roundTripFloorMs, beforeMs * roundTripShare);
}
