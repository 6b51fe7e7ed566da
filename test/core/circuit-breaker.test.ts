import { describe, expect, it } from 'vitest';
import {
  circuitBreaker,
  circuitBreakerPath,
  emptyCircuitBreakerRecord,
} from '../../src/core/circuit-breaker.js';
import type { Cause } from '../../src/model/znodes.js';
import { byHand, config, epoch0Ms, instant } from './builders.js';

const own = '/services/a';
const minute = 60_000;
const settings = { transitions: 2, within: '10m', record: '/services-circuit-breaker' };
const moved = (ms: number, root = '/services/b', term = 7) => ({ at: instant(ms), root, term });

function withCircuitBreaker(
  counted: ReturnType<typeof moved>[],
  nowMs: number,
  cause: Cause = 'failure',
  resumedMs = -1,
) {
  const resumed = resumedMs < 0 ? null : { ...byHand, at: instant(resumedMs) };
  const read = { path: '/services-circuit-breaker', root: own, record: { moved: counted }, version: 3 };
  const decision = { cause, term: 4, node: 'a1' };
  return circuitBreaker(read, config({ circuitBreaker: settings, resumed }), decision, epoch0Ms + nowMs);
}

describe('a circuit breaker', () => {
  it('counts what moves by itself, and forgets what is long past', () => {
    expect(withCircuitBreaker([moved(0), moved(5 * minute)], 11 * minute)).toEqual({
      stops: false,
      // The record keeps old failovers, because another group that shares it may count them over a longer
      // window.
      record: { moved: [moved(0), moved(5 * minute), moved(11 * minute, own, 4)] },
    });
  });

  it('stops the one that is too many, and says what else has moved', () => {
    expect(withCircuitBreaker([moved(0), moved(minute, '/services/c')], 2 * minute)).toEqual({
      stops: true,
      reason:
        'automatic failover suspended after leadership of 2 groups, /services/b, /services/c, moved 2 times within 10m. Pending: term 4 of /services/a (failure). Run petrel resume when the cause is fixed',
    });
  });

  it('counts what moved less than the window ago', () => {
    const counted = [moved(0), moved(5 * minute)];
    expect(withCircuitBreaker(counted, 10 * minute - 1).stops).toBe(true);
    expect(withCircuitBreaker(counted, 10 * minute).stops).toBe(false);
  });

  it('says which group has moved, if it is a single one, and how often', () => {
    const once = config({ circuitBreaker: { ...settings, transitions: 1 } });
    const read = {
      path: '/services-circuit-breaker',
      root: own,
      record: { moved: [moved(0, own)] },
      version: 3,
    };
    expect(circuitBreaker(read, once, { cause: 'retry', term: 8, node: 'a1' }, epoch0Ms + 1)).toEqual({
      stops: true,
      reason:
        'automatic failover suspended after leadership of /services/a moved once within 10m. Pending: term 8 of /services/a (retry). Run petrel resume when the cause is fixed',
    });
  });

  it('does not hold a decision for no node, and does not count it', () => {
    const read = {
      path: '/services-circuit-breaker',
      root: own,
      record: { moved: [moved(0), moved(1)] },
      version: 3,
    };
    const decision = { cause: 'failure' as const, term: 4, node: null };
    const found = circuitBreaker(read, config({ circuitBreaker: settings }), decision, epoch0Ms + 2);
    expect(found).toEqual({ stops: false, record: null });
  });

  it('keeps no more failovers than any group can count', () => {
    const full = Array.from({ length: 1_000 }, (_, index) => moved(index));
    const found = withCircuitBreaker(full, 60 * minute);
    expect(found).toEqual({
      stops: false,
      record: { moved: [...full.slice(1), moved(60 * minute, own, 4)] },
    });
  });

  it.each<Cause>(['failure', 'retry', 'preference'])('holds for %s', (cause) => {
    expect(withCircuitBreaker([moved(0), moved(1)], 2, cause).stops).toBe(true);
  });

  it.each<Cause>(['first', 'planned', 'shutdown', 'nobody'])('does not hold, nor count, for %s', (cause) => {
    expect(withCircuitBreaker([moved(0), moved(1)], 2, cause)).toEqual({ stops: false, record: null });
  });

  it('forgets what it counted before an operator resumed the group', () => {
    const counted = [moved(0), moved(minute)];
    expect(withCircuitBreaker(counted, 3 * minute, 'failure', 2 * minute).stops).toBe(false);
    expect(
      withCircuitBreaker([...counted, moved(150_000), moved(151_000)], 3 * minute, 'failure', 2 * minute)
        .stops,
    ).toBe(true);
  });

  it('does not count what moved at the moment when an operator resumed the group', () => {
    const counted = [moved(2 * minute), moved(150_000)];
    expect(withCircuitBreaker(counted, 3 * minute, 'failure', 2 * minute).stops).toBe(false);
    expect(withCircuitBreaker(counted, 3 * minute, 'failure', 2 * minute - 1).stops).toBe(true);
  });

  it('holds nobody up who is paused already, nor by what lies ahead of a clock that was set back', () => {
    const read = {
      path: '/services-circuit-breaker',
      root: own,
      record: { moved: [moved(0), moved(1)] },
      version: 3,
    };
    const decision = { cause: 'retry' as const, term: 4, node: 'a1' };
    const paused = config({ circuitBreaker: settings, paused: byHand });
    expect(circuitBreaker(read, paused, decision, epoch0Ms + 2)).toEqual({ stops: false, record: null });
    expect(withCircuitBreaker([moved(60 * minute), moved(61 * minute)], 2).stops).toBe(false);
  });

  it('is no znode of something else', () => {
    for (const record of ['/services/config', '/services/leader/elected', '/zookeeper/circuit-breaker'])
      expect(() => config({ circuitBreaker: { record } })).toThrow();
    expect(() => config({ circuitBreaker: { within: '0s' } })).toThrow(
      '0s is too short: expected at least 1ms',
    );
  });

  it('is one of the group’s own unless another is named, and none by default', () => {
    expect(circuitBreakerPath(config(), own)).toBeNull();
    expect(circuitBreakerPath(config({ circuitBreaker: { transitions: 1 } }), own)).toBe(
      '/services/a/circuit-breaker',
    );
    expect(circuitBreakerPath(config({ circuitBreaker: settings }), own)).toBe('/services-circuit-breaker');
    expect(emptyCircuitBreakerRecord).toEqual({ moved: [] });
  });
});
