/**
 * Decides when a node publishes its measurements. The first measurements are published immediately. The
 * disappearance or return of a score is published soon after it happens. All other changes are published at a
 * limited rate, and only if they exceed the tolerance.
 */

import type { Score, ScoreReport } from '../model/scores.js';
import { hasMoved, hasRoundTripMoved, type Tolerance } from './measuring.js';

export type Measured = Pick<ScoreReport, 'values' | 'roundTripsMs'>;

/** Measurements that a node has published. Instants are on the node's monotonic clock. */
export interface Published extends Measured {
  readonly atMs: number;
  /**
   * Instant at which the disappearance or return of each score was last published. It is used to limit the
   * writes for a score that flaps.
   */
  readonly turnedAtMs: ReadonlyMap<string, number>;
}

/**
 * Shortest time between two writes. A write about the disappearance or return of a score is exempt, but each
 * score causes at most one such write in this time.
 */
export const publishEveryMs = 5_000;

/**
 * Shortest time between writes about the disappearance and return of scores. If a hundred scores flap at
 * different times, one write reports them all.
 */
export const turnEveryMs = 1_000;

/**
 * Returns the instant at which the measurements must be published. Returns Infinity if nothing needs to be
 * published.
 */
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

/** Returns the new state after `measured` was published at `nowMs`. */
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
    const published = before.get(key);
    return published !== undefined && moved(published, value, key);
  });
}
