import { describe, expect, it } from 'vitest';
import {
  backoffDeadlinesMs,
  backoffMs,
  isInBackoff,
  settleFailures,
  withFailure,
} from '../../src/core/backoff.js';
import { byHand, claim, config, epoch0Ms, failure, instant, member, members } from './builders.js';

const settings = config({ backoff: { base: '10s', max: '1m' } });
const nodes = members('a1', 'b1');
const settle = (
  record: ReturnType<typeof failure>,
  {
    config: used = settings,
    current = null,
    present = nodes,
    elected = 'a1',
    ms = 0,
  }: {
    config?: typeof settings;
    current?: ReturnType<typeof claim> | null;
    present?: typeof nodes;
    elected?: string;
    ms?: number;
  } = {},
) => settleFailures({ node: elected, term: 1, failures: [record] }, present, current, used, epoch0Ms + ms);

describe('the back-off', () => {
  it('doubles from base to max, and stays there however long it goes on', () => {
    const lengths = [1, 2, 3, 4, 5, 50, 5_000].map((count) => backoffMs(settings, count) / 1000);
    expect(lengths).toEqual([10, 20, 40, 60, 60, 60, 60]);
  });

  it('counts the failures of one node, not of others, and remembers that a restart ended one already', () => {
    const before = [failure('a1', { count: 2, restarted: true, until: null }), failure('b1')];
    const failed = { node: 'a1', incarnation: 'second', reason: 'exit code 1' };
    expect(withFailure(before, failed, settings, epoch0Ms + 5_000)).toEqual([
      failure('b1'),
      {
        ...failed,
        count: 3,
        failedAt: instant(5_000),
        until: instant(45_000),
        restarted: true,
      },
    ]);
  });
});

describe('a failure', () => {
  it('excludes until its end, and is remembered after it for the back-off', () => {
    expect(settle(failure('a1'), { ms: 9_999 })).toEqual([failure('a1')]);
    expect(settle(failure('a1'), { ms: 10_000 })).toEqual([failure('a1', { until: null })]);
  });

  it('excludes hardly longer than it should when the ensemble’s clock is set back', () => {
    expect(settle(failure('a1'), { ms: -10_000 })).toEqual([failure('a1')]);
    expect(settle(failure('a1'), { ms: -10_001 })).toEqual([failure('a1', { until: null })]);
  });

  it('is forgotten after twice the longest backoff, once that life is over', () => {
    const over = failure('a1', { until: null });
    for (const present of [[], [member('a1', { incarnation: 'second' })]]) {
      expect(settle(over, { present, ms: 119_999 })).toHaveLength(1);
      expect(settle(over, { present, ms: 120_000 })).toEqual([]);
    }
    expect(settle(over, { ms: 9_000_000 })).toHaveLength(1);
  });

  it('is forgotten although another node runs on, and although its own node is malformed', () => {
    const over = failure('a1', { until: null });
    const malformed = { ...member('a1'), value: null, problem: 'malformed' };
    for (const present of [[member('b1', { incarnation: over.incarnation })], [malformed]])
      expect(settle(over, { present, ms: 120_000 })).toEqual([]);
  });

  it('excludes until its end although shorter backoffs have been set, and its life is over', () => {
    const shorter = { ...settings, backoff: { base: '1s', max: '2s' } };
    expect(settle(failure('a1'), { config: shorter, present: [], ms: 9_999 })).toEqual([failure('a1')]);
  });

  it('that excludes no longer is left as it is by a new incarnation', () => {
    const over = failure('a1', { until: null });
    expect(settle(over, { present: [member('a1', { incarnation: 'second' })] })).toEqual([over]);
    const malformed = { ...member('a1'), value: null, problem: 'malformed' };
    expect(settle(failure('a1'), { present: [malformed] })).toEqual([failure('a1')]);
  });

  it('changes nothing at any later instant once it excludes no longer', () => {
    expect(backoffDeadlinesMs(failure('a1', { until: null }), settings)).toEqual([]);
    expect(isInBackoff(failure('a1', { until: null }), epoch0Ms)).toBe(false);
    expect(isInBackoff(failure('a1'), epoch0Ms)).toBe(true);
  });

  it('is not cleared by the READY of a leader that has been replaced', () => {
    expect(settle(failure('a1'), { current: claim('a1'), elected: 'b1' })).toHaveLength(1);
  });

  it('is cleared by READY of that node', () => {
    expect(settle(failure('a1'), { current: claim('a1') })).toEqual([]);
    expect(settle(failure('a1'), { current: claim('a1', { status: 'PROGRESS' }) })).toHaveLength(1);
    expect(settle(failure('a1'), { current: claim('b1') })).toHaveLength(1);
    expect(settle(failure('a1'), { current: claim('a1', { term: 0 }) })).toHaveLength(1);
  });

  it('is cleared by an operator, for that failure only', () => {
    const clearFailure = (failedAt: string) => ({
      ...settings,
      clearedFailures: { a1: { failedAt, ...byHand } },
    });
    expect(settle(failure('a1'), { config: clearFailure(instant(0)) })).toEqual([]);
    expect(settle(failure('a1'), { config: clearFailure(instant(-1)) })).toHaveLength(1);
    expect(settle(failure('b1'), { config: clearFailure(instant(0)) })).toHaveLength(1);
  });

  it('stops excluding, once, when the node restarts', () => {
    const present = [member('a1', { incarnation: 'second' })];
    expect(settle(failure('a1'), { present })).toEqual([
      failure('a1', { until: null, incarnation: 'second', restarted: true }),
    ]);
    expect(settle(failure('a1', { restarted: true }), { present })).toEqual([
      failure('a1', { restarted: true }),
    ]);
    expect(settle(failure('a1'), { present: [] })).toEqual([failure('a1')]);
  });
});
