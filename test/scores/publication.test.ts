import { describe, expect, it } from 'vitest';
import type { Score } from '../../src/model/scores.js';
import {
  type Measured,
  type Published,
  publicationDueAtMs,
  publishEveryMs,
  publishedNow,
  turnEveryMs,
} from '../../src/scores/publication.js';

function measured(values: Record<string, Score>, roundTrips: Record<string, number> = {}): Measured {
  return { values: new Map(Object.entries(values)), roundTripsMs: new Map(Object.entries(roundTrips)) };
}

const due = (published: Published | null, now: Measured) =>
  publicationDueAtMs(published, now, (name) => (name === 'position' ? 0 : '5%'));

describe('a node publishes what it measures', () => {
  it('not at all while it measures nothing', () => {
    expect(due(null, measured({}))).toBe(Number.POSITIVE_INFINITY);
  });

  it('at once the first time', () => {
    expect(due(null, measured({ load: 1 }))).toBe(Number.NEGATIVE_INFINITY);
    expect(due(null, measured({}, { b: 3 }))).toBe(Number.NEGATIVE_INFINITY);
  });

  it('not again while it moves within its tolerance', () => {
    const last = publishedNow(null, measured({ load: 100 }, { b: 20 }), 1000);
    expect(due(last, measured({ load: 104.9 }, { b: 21.9 }))).toBe(Number.POSITIVE_INFINITY);
  });

  it('no more often than a node may when something moves, or a peer comes or goes', () => {
    const last = publishedNow(null, measured({ load: 100, position: 2n ** 60n }, { b: 20 }), 1000);
    const next = 1000 + publishEveryMs;
    const position = 2n ** 60n;
    expect(due(last, measured({ load: 106, position }, { b: 20 }))).toBe(next);
    expect(due(last, measured({ load: 100, position: position + 1n }, { b: 20 }))).toBe(next);
    expect(due(last, measured({ load: 100, position }, { b: 23 }))).toBe(next);
    expect(due(last, measured({ load: 100, position }, { b: 20, c: 1 }))).toBe(next);
    expect(due(last, measured({ load: 100, position }))).toBe(next);
  });

  it('measures a slow drift from what it published, not from what it measured last', () => {
    const last = publishedNow(null, measured({ load: 100 }), 0);
    expect(due(last, measured({ load: 105 }))).toBe(Number.POSITIVE_INFINITY);
    expect(due(last, measured({ load: 106 }))).toBe(publishEveryMs);
  });

  it('soon when a score comes, goes or comes back, but not each time that it flaps', () => {
    const one = publishedNow(null, measured({ load: 1 }), 0);
    expect(due(one, measured({ load: 1, lag: 5 }))).toBe(turnEveryMs);
    const two = publishedNow(one, measured({ load: 1, lag: 5 }), 100);
    expect(due(two, measured({ load: 1 }))).toBe(100 + publishEveryMs);
    expect(due(two, measured({ lag: 5 }))).toBe(publishEveryMs);
    const later = publishedNow(two, measured({}), 20_000);
    expect(later.values.size).toBe(0);
    expect(due(later, measured({ lag: 5 }))).toBe(20_000 + publishEveryMs);
  });

  it('once a second at most, however many scores flap, each in its own time', () => {
    const flapping = (nowMs: number) =>
      measured(
        Object.fromEntries(
          Array.from({ length: 100 }, (_, index) => [`s${index}`, 1] as const).filter(
            (_, index) => Math.floor((nowMs + 60 * index) / 6000) % 2 === 0,
          ),
        ),
      );
    let last = publishedNow(null, flapping(0), 0);
    let writes = 0;
    for (let nowMs = 50; nowMs <= 60_000; nowMs += 50) {
      if (due(last, flapping(nowMs)) > nowMs) continue;
      last = publishedNow(last, flapping(nowMs), nowMs);
      writes += 1;
    }
    expect(writes).toBeGreaterThan(10);
    expect(writes).toBeLessThanOrEqual(60);
  });
});
