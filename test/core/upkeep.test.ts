import { describe, expect, it } from 'vitest';
import { dropMissedRequest, endOverrides } from '../../src/core/upkeep.js';
import { byHand, config, decided, epoch0Ms, group, instant, unreadable, versioned } from './builders.js';

const minute = 60_000;

/** Returns the input of the elector in term 4, `ms` after the start. The configuration has version 7. */
function inputOf(settings: Parameters<typeof config>[0], ms: number, change: { missedRequest?: true } = {}) {
  const read = config(settings);
  const elected = decided({ node: 'a1', term: 4, reason: 'b1 is drained', ...change });
  return { snapshot: group({ config: versioned(read, 7) }), config: read, elected, epochMs: epoch0Ms + ms };
}

describe('a priority override', () => {
  const until = (ms: number) => ({ priority: 300, until: instant(ms), ...byHand });
  const lasting = { priority: 50, until: null, ...byHand };
  const sites = {
    a: { override: until(minute) },
    b: { override: { ...until(minute), suspended: [lasting] } },
    c: { override: until(2 * minute) },
  };

  it('ends at its time, and one that lasts longer applies again', () => {
    expect(endOverrides(inputOf({ sites }, minute - 1))).toBeNull();
    expect(endOverrides(inputOf({ sites }, minute))).toEqual({
      do: 'change-sites',
      changes: [
        { site: 'a', settings: { override: null } },
        { site: 'b', settings: { override: lasting } },
      ],
      what: 'the priority override of site a, b ended',
      reason: 'it had expired',
      configVersion: 7,
    });
  });

  it('is not removed while the configuration is unreadable: the last readable one may be outdated', () => {
    const input = inputOf({ sites }, minute);
    expect(endOverrides({ ...input, snapshot: group({ config: unreadable(8) }) })).toBeNull();
  });
});

describe('a requested switchover', () => {
  const at = (ms: number | null, replacesTerm: number) => {
    const notBefore = ms === null ? null : instant(ms);
    return { switchover: { to: { node: 'c1' }, replacesTerm, notBefore, ...byHand } };
  };

  it('is not dropped if there is none, or if the configuration is unreadable', () => {
    expect(dropMissedRequest(inputOf({}, 0, { missedRequest: true }))).toBeNull();
    const input = inputOf(at(null, 3), 0, { missedRequest: true });
    expect(dropMissedRequest({ ...input, snapshot: group({ config: unreadable(8) }) })).toBeNull();
  });

  it('is dropped if its term has ended without it', () => {
    expect(dropMissedRequest(inputOf(at(null, 3), 0, { missedRequest: true }))).toEqual({
      do: 'drop-request',
      what: `switchover to c1, requested by ops at ${instant(0)}, was missed`,
      reason: 'term 3 ended before the request was carried out; term 4: b1 is drained',
      configVersion: 7,
    });
  });

  it('is not dropped for an earlier request that was missed', () => {
    expect(dropMissedRequest(inputOf(at(minute, 4), 0, { missedRequest: true }))).toBeNull();
  });

  it('is dropped a minute after its time, and not before', () => {
    expect(dropMissedRequest(inputOf(at(minute, 4), 2 * minute - 1))).toBeNull();
    expect(dropMissedRequest(inputOf(at(minute, 4), 2 * minute))).toEqual({
      do: 'drop-request',
      what: `switchover to c1 not before ${instant(minute)}, requested by ops at ${instant(0)}, was missed`,
      reason: 'c1 was ineligible at the requested time and for 1m after it',
      configVersion: 7,
    });
    expect(dropMissedRequest(inputOf(at(null, 4), 60 * minute))).toBeNull();
  });

  it('is not dropped once it has been carried out, however long its time has passed', () => {
    expect(dropMissedRequest(inputOf(at(minute, 3), 60 * minute))).toBeNull();
  });
});
