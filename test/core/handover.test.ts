import { describe, expect, it } from 'vitest';
import { handsOverBy, type LeadershipInput, type Stage } from '../../src/core/leadership.js';
import type { GroupSnapshot } from '../../src/model/snapshot.js';
import { config, decided, unreadable, versioned } from './builders.js';
import {
  failed,
  leadership,
  mine,
  own,
  seen,
  situation,
  step,
  term,
  token,
  version,
} from './leadership-input.js';

describe('a leader that leaves, and whose successor is published', () => {
  const prepared = {
    decision: { ...decided({ node: 'b1', term: term + 1, cause: 'shutdown' }), node: 'b1', site: 'b' },
    electedVersion: version,
    configVersion: 1,
    nodeVersion: 5,
    seats: ['b1-0000000001'],
  };
  const ready = own({ status: 'READY' });
  const successor = versioned({ prepared, nobody: false, reason: 'b1 is next' }, 7);
  const leaving = (stage: Stage, change: Partial<LeadershipInput> = {}) =>
    step({
      draining: true,
      leadership: leadership(stage),
      snapshot: seen({ current: ready, successor }),
      ...change,
    });
  const reason = 'shutting down, and b1 follows';

  it('releases at once, and then hands over in one write', () => {
    expect(leaving('leading')).toEqual({ do: 'release', term, reason, newLeader: 'b1' });
    expect(leaving('releasing')).toBeNull();
    const handOver = { do: 'hand-over', prepared, successorVersion: 7, claimVersion: ready.version };
    expect(leaving('released')).toEqual(handOver);
    expect(leaving('released', { drainOverdue: true })).toEqual(handOver);
  });

  it('stays if it does not leave', () => {
    expect(leaving('leading', { draining: false })).toBeNull();
  });

  const changed: [string, Partial<GroupSnapshot>][] = [
    ['the successor is not known', { successor: undefined }],
    ['no successor is published', { successor: null }],
    ['the successor cannot be read', { successor: unreadable(7) }],
    ['nobody is published', { successor: versioned({ prepared: null, nobody: true, reason: 'paused' }, 7) }],
    ['the decision was revised', { elected: versioned(mine, version + 1) }],
    ['the decision was lost and made again', { elected: versioned({ ...mine, term: term + 1 }, version) }],
    ['the configuration has changed', { config: versioned(config(), 2) }],
    ['the configuration cannot be read', { config: unreadable(1) }],
  ];

  it.each(changed)('waits for the elector if %s', (_, change) => {
    const snapshot = seen({ current: ready, successor, ...change });
    expect(leaving('leading', { snapshot })?.do).not.toBe('release');
    expect(leaving('released', { snapshot })?.do).toBe('delete-claim');
  });

  it('waits for the elector if another node is elected meanwhile, or its own READY is not written', () => {
    const other = decided({ node: 'c1', term });
    const superseded = seen({ elected: versioned(other, version), current: ready, successor });
    expect(leaving('leading', { snapshot: superseded })).toMatchObject({ newLeader: 'c1' });
    expect(leaving('released', { snapshot: superseded })?.do).toBe('delete-claim');
    const early = seen({ current: own(), successor });
    expect(leaving('leading', { snapshot: early })?.do).toBe('write-ready');
    expect(leaving('taken-over', { snapshot: seen({ current: ready, successor }) })?.do).toBe('write-ready');
  });

  it('deletes its claim if it has failed, or if a handover was refused', () => {
    const failing = leadership('released', { failure: failed });
    expect(leaving('released', { leadership: failing })).toMatchObject({
      do: 'delete-claim',
      failure: failed,
    });
    expect(leaving('released', { handOverRefused: true })?.do).toBe('delete-claim');
    expect(leaving('leading', { handOverRefused: true })).toBeNull();
  });

  it('does not say that it leaves until the handover is refused', () => {
    const one = situation({
      draining: true,
      leadership: leadership('releasing'),
      snapshot: seen({ current: ready, successor }),
    });
    expect(handsOverBy(one)).toBe(prepared);
    expect(handsOverBy({ ...one, handOverRefused: true })).toBeNull();
    expect(handsOverBy({ ...one, draining: false })).toBeNull();
    expect(handsOverBy({ ...one, snapshot: null })).toBeNull();
  });

  it('hands over only the claim of this leadership', () => {
    const one = situation({
      draining: true,
      leadership: leadership('leading'),
      snapshot: seen({ current: ready, successor }),
    });
    expect(handsOverBy(one)).toBe(prepared);
    const later = seen({ current: own({ status: 'READY', token: token + 1n }), successor });
    expect(handsOverBy({ ...one, snapshot: later })).toBeNull();
    expect(handsOverBy({ ...one, leadership: null })).toBeNull();
  });
});
