/** Conditions for a handover with the prepared decision, and the state that the successor then assumes. */
import { describe, expect, it } from 'vitest';
import { afterHandover, preparedDecision } from '../../src/core/prepared-decision.js';
import type { GroupSnapshot } from '../../src/model/snapshot.js';
import type { PreparedDecision } from '../../src/model/znodes.js';
import { byHand, claim, config, decided, group, unreadable, versioned } from './builders.js';

const next = { ...decided({ node: 'b1', term: 4, cause: 'shutdown' }), node: 'b1', site: 'b' };
const prepared = {
  decision: next,
  electedVersion: 8,
  configVersion: 5,
  nodeVersion: 2,
  seats: ['b1-0000000001'],
};
const ofItself = { ...prepared, decision: { ...next, node: 'a1', site: 'a' } };

function published(content: PreparedDecision | null) {
  return versioned({ prepared: content, nobody: content === null, reason: 'it is next' }, 7);
}

/** Returns a group that a1 leads in term 3, and whose published successor is b1. */
function led(change: Partial<GroupSnapshot> = {}): GroupSnapshot {
  return group({
    elected: versioned(decided({ node: 'a1', term: 3 }), 8),
    config: versioned(config(), 5),
    current: claim('a1', { term: 3 }),
    successor: published(prepared),
    ...change,
  });
}

const unusable: [string, Partial<GroupSnapshot>][] = [
  ['is unknown', { successor: undefined }],
  ['is not published', { successor: null }],
  ['is unreadable', { successor: unreadable(7) }],
  ['is no node', { successor: published(null) }],
  ['was published before the current decision', { elected: versioned(decided({ node: 'a1', term: 3 }), 9) }],
];

describe('a leaving leader may hand over', () => {
  it('with the decision that the elector prepared', () => {
    expect(preparedDecision(led(), 'a1')).toBe(prepared);
  });

  it.each<[string, Partial<GroupSnapshot>]>([
    ...unusable,
    ['was published before the current configuration', { config: versioned(config(), 6) }],
    ['follows another term', { elected: versioned(decided({ node: 'a1', term: 2 }), 8) }],
    ['follows a decision that is malformed', { elected: unreadable(8) }],
    ['is known, but the configuration is malformed', { config: unreadable(5) }],
    ['is known, but the group is paused', { config: versioned(config({ paused: byHand }), 5) }],
    ['is the leader itself', { successor: published(ofItself) }],
  ])('but not if the successor %s', (_, change) => {
    expect(preparedDecision(led(change), 'a1')).toBeNull();
  });

  it('but not if another node is elected', () => {
    expect(preparedDecision(led(), 'c1')).toBeNull();
  });
});

describe('a successor that is notified of a handover', () => {
  it('assumes the prepared decision and a free claim, if nothing else has changed', () => {
    const before = led();
    expect(afterHandover(before, 'b1')).toEqual({
      ...before,
      elected: { ...before.elected, value: next, problem: null, version: 9 },
      current: null,
      assumedFrom: 7,
    });
  });

  it('assumes the same if the decision before was malformed', () => {
    const assumed = afterHandover(led({ elected: unreadable(8) }), 'b1');
    expect(assumed?.elected).toMatchObject({ value: next, problem: null, version: 9 });
  });

  it.each(unusable)('assumes nothing if the successor %s', (_, change) => {
    expect(afterHandover(led(change), 'b1')).toBeNull();
  });

  it('assumes nothing if it is not the successor', () => {
    expect(afterHandover(led(), 'c1')).toBeNull();
  });
});
