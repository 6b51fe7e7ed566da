/**
 * When a node tells what it measures: at once when it has something to tell for the first time, soon when a
 * score goes missing or comes back; otherwise at most so often, and only what has moved by more than its
 * tolerance.
 */

import type { Score, ScoreReport } from '../model/scores.js';
import { hasMoved, hasRoundTripMoved, type Tolerance } from './measuring.js';

export type Measured = Pick<ScoreReport, 'values' | 'roundTripsMs'>;

/** What a node has told, on its monotonic clock. */
export interface Published extends Measured {
  readonly atMs: number;
  /**
   * When each score was last told to have gone missing or come back: one that flaps is not told of at once
   * each time.
   */
  readonly turnedAtMs: ReadonlyMap<string, number>;
}

/**
 * A node writes no more often, but for a score that goes missing or comes back: that too no more often for
 * each.
 */
export const publishEveryMs = 5_000;

/**
 * Nor for these: of a hundred scores that flap, each in its own time, one write tells what all have come to.
 */
export const turnEveryMs = 1_000;

/** The instant at which what was measured is to be told; Infinity where nothing new is to be. */
export function publicationDueAtMs(
  published: Published | null,
  measured: Measured,
  tolerance: (name: string) => Tolerance,
): number {
  const { values, roundTripsMs } = measured;
  if (published === null) {
    return values.size + roundTripsMs.size === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }
  const turned = differingKeys(published.values, values);
  const turns = turned.map((name) => published.turnedAtMs.get(name) ?? Number.NEGATIVE_INFINITY);
  if (turns.length > 0) return Math.max(Math.min(...turns) + publishEveryMs, published.atMs + turnEveryMs);
  const isNews =
    differingKeys(published.roundTripsMs, roundTripsMs).length > 0 ||
    anyMoved(published.values, values, (before, now, name) => hasMoved(before, now, tolerance(name))) ||
    anyMoved(published.roundTripsMs, roundTripsMs, hasRoundTripMoved);
  return isNews ? published.atMs + publishEveryMs : Number.POSITIVE_INFINITY;
}

/** After `measured` was told. */
export function publishedNow(before: Published | null, measured: Measured, nowMs: number): Published {
  const turned = differingKeys(before?.values ?? new Map<string, Score>(), measured.values);
  const turnedAtMs = new Map([
    ...(before?.turnedAtMs ?? []),
    ...turned.map((name): [string, number] => [name, nowMs]),
  ]);
  return {
    values: new Map(measured.values),
    roundTripsMs: new Map(measured.roundTripsMs),
    atMs: nowMs,
    turnedAtMs,
  };
}

type Entries<Value> = ReadonlyMap<string, Value>;

function differingKeys(one: Entries<unknown>, other: Entries<unknown>): string[] {
  return [...one.keys(), ...other.keys()].filter((key) => one.has(key) !== other.has(key));
}

function anyMoved<Value>(
  before: Entries<Value>,
  now: Entries<Value>,
  moved: (before: Value, now: Value, key: string) => boolean,
): boolean {
  return [...now].some(([key, value]) => {
    const told = before.get(key);
    return told !== undefined && moved(told, value, key);
  });
}
