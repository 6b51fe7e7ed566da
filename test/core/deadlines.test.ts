import { describe, expect, it } from 'vitest';
import { endedOverrides, needsReading, nextInstantInMs } from '../../src/core/deadlines.js';
import { ensembleNowMs, isOutdated } from '../../src/core/ensemble-clock.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import type { FailureRecord } from '../../src/model/znodes.js';
import { byHand, config, epoch0Ms, failure, instant } from './builders.js';

const reading = { epochMs: epoch0Ms, atMs: 500 };
const timed = (settings: GroupConfig, failures: FailureRecord[], minutes: number[] = []) => {
  return { config: settings, failures, minutes };
};
const override = (until: string | null) => ({ override: { priority: 1, until, ...byHand } });
const switchover = (ms: number) => ({
  switchover: { to: 'best-other' as const, replacesTerm: 1, notBefore: instant(ms), ...byHand },
});

describe('the ensemble’s clock', () => {
  it('P65 goes on from the reading at the pace of the monotonic clock', () => {
    expect(ensembleNowMs(reading, 500)).toBe(epoch0Ms);
    expect(ensembleNowMs(reading, 1_700)).toBe(epoch0Ms + 1_200);
  });

  it('is too old to count from after a minute', () => {
    expect(isOutdated(reading, 60_500)).toBe(false);
    expect(isOutdated(reading, 60_501)).toBe(true);
  });

  it('is read again where a failure lies ahead of it: it was set, forward since the reading, or back before it', () => {
    const ahead = failure('a1', { failedAt: instant(40_000), until: instant(50_000) });
    expect(needsReading(reading, timed(config(), [ahead]), 1_500)).toBe(false);
    expect(needsReading(reading, timed(config(), [ahead]), 1_501)).toBe(true);
    const uneven = failure('a1', { failedAt: instant(9_000), until: instant(50_000) });
    expect(needsReading(reading, timed(config(), [uneven]), 1_501)).toBe(false);
    expect(needsReading(reading, timed(config(), [{ ...ahead, until: null }]), 1_501)).toBe(false);
  });

  it('is read again once a minute of the day has come that the strategy goes by, and not for one to come', () => {
    const minutes = [10, 90];
    const needs = (nowMs: number) => needsReading(reading, timed(config(), [], minutes), nowMs);
    expect(needs(500 + 599_999)).toBe(false);
    expect(needs(500 + 600_000)).toBe(true);
    const then = { epochMs: epoch0Ms + 600_000, atMs: 600_500 };
    expect(needsReading(then, timed(config(), [], minutes), 600_500 + 79 * 60_000)).toBe(false);
    expect(needsReading(then, timed(config(), [], minutes), 600_500 + 80 * 60_000)).toBe(true);
  });

  it('must be read before anything is decided', () => {
    expect(needsReading(null, timed(config(), []), 0)).toBe(true);
  });

  it('need not be read again while no limit lies ahead, however old the reading', () => {
    const past = config({ sites: { a: override(instant(-1)), b: override(null) }, ...switchover(-60_005) });
    expect(needsReading(reading, timed(config(), []), 1e12)).toBe(false);
    expect(
      needsReading(
        reading,
        timed(past, [failure('a1', { until: instant(0), failedAt: instant(-10_000) })]),
        1e12,
      ),
    ).toBe(false);
  });

  it.each<[string, Parameters<typeof config>[0], FailureRecord[]]>([
    ['an override ends', { sites: { a: override(instant(5_000)) } }, []],
    ['a switchover is due', switchover(5_000), []],
    ['a switchover is missed', switchover(-55_000), []],
    [
      'a backoff ends',
      { backoff: { base: '1s' } },
      [failure('a1', { failedAt: instant(-2_000), until: instant(5_000) })],
    ],
    [
      'everyone’s backoff may be cut short',
      { backoff: { base: '7s' } },
      [failure('a1', { failedAt: instant(-2_000), until: instant(9_000_000) })],
    ],
  ])('is read again before %s, and within a minute in any case', (_, settings, failures) => {
    const needed = (nowMs: number) => needsReading(reading, timed(config(settings), failures), nowMs);
    expect(needed(5_499)).toBe(false);
    expect(needed(5_500)).toBe(true);
    const fresh = { epochMs: epoch0Ms + 5_000, atMs: 5_500 };
    expect(needsReading(fresh, timed(config(settings), failures), 5_500)).toBe(false);
  });

  it('a reading of a moment ago is exact enough for a limit that has passed since', () => {
    const settings = config(switchover(900));
    expect(needsReading(reading, timed(settings, []), 1_499)).toBe(false);
    expect(needsReading(reading, timed(settings, []), 1_501)).toBe(true);
  });

  it('is read again within a minute while a limit lies ahead', () => {
    const settings = config(switchover(10_000_000));
    expect(needsReading(reading, timed(settings, []), 60_500)).toBe(false);
    expect(needsReading(reading, timed(settings, []), 60_501)).toBe(true);
  });
});

describe('limits', () => {
  it('the next one is the nearest that is still ahead', () => {
    const settings = config({
      sites: { a: override(instant(-1)), b: override(instant(7_000)), c: override(null) },
      ...switchover(9_000),
    });
    const failures = [
      failure('a1', { failedAt: instant(-20_000), until: instant(4_000) }),
      failure('b1', { until: null }),
    ];
    expect(nextInstantInMs(timed(settings, failures), epoch0Ms)).toBe(4_000);
    expect(nextInstantInMs(timed(settings, []), epoch0Ms)).toBe(7_000);
    expect(nextInstantInMs(timed(settings, []), epoch0Ms + 7_000)).toBe(2_000);
    // A switchover that has not happened a minute after its time is missed.
    expect(nextInstantInMs(timed(settings, []), epoch0Ms + 9_000)).toBe(60_000);
    expect(nextInstantInMs(timed(settings, []), epoch0Ms + 69_000)).toBeNull();
    expect(nextInstantInMs(timed(config(), [failure('b1', { until: null })]), epoch0Ms)).toBeNull();
  });

  it('a minute of the day counts as well, if it comes sooner', () => {
    const settings = config({ sites: { b: override(instant(70_000)) } });
    const nextMinute = Math.floor(epoch0Ms / 60_000) + 1;
    const untilMs = nextMinute * 60_000 - epoch0Ms;
    const inDay = (minute: number) => minute % 1_440;
    expect(nextInstantInMs(timed(settings, [], [inDay(nextMinute)]), epoch0Ms)).toBe(untilMs);
    expect(nextInstantInMs(timed(settings, [], [inDay(nextMinute + 2)]), epoch0Ms)).toBe(70_000);
    expect(nextInstantInMs(timed(config(), [], [inDay(nextMinute)]), epoch0Ms)).toBe(untilMs);
  });

  it('P53 overrides that have ended are named, those that have not are not', () => {
    const settings = config({
      sites: { a: override(instant(0)), b: override(instant(1)), c: override(null), d: {} },
    });
    expect(endedOverrides(settings, epoch0Ms)).toEqual(['a']);
    expect(endedOverrides(settings, epoch0Ms + 1)).toEqual(['a', 'b']);
    const { override: lasting } = override(null);
    const temporary = { ...override(instant(1)).override, suspended: [lasting] };
    expect(endedOverrides(config({ sites: { a: { override: temporary } } }), epoch0Ms + 1)).toEqual(['a']);
  });
});
