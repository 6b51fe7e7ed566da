import { describe, expect, it } from 'vitest';
import { isChecked, type LeadershipAction } from '../../src/core/leadership.js';
import type { Claim } from '../../src/model/snapshot.js';
import { decided, unreadable, versioned } from './builders.js';
import { leadership, own, seen, self, step, term, token, version } from './leadership-input.js';

describe('a step that may be taken before the group is read again', () => {
  it.each<[LeadershipAction['do'], boolean]>([
    ['prepare', false],
    ['claim', true],
    ['adopt', false],
    ['take-over', false],
    ['write-ready', true],
    ['release', false],
    ['hand-over', true],
    ['delete-claim', true],
    ['forget-leadership', false],
  ])('%s: %s', (verb, expected) => {
    expect(isChecked({ do: verb })).toBe(expected);
  });
});

describe('a leader that sees a decision of an earlier term', () => {
  const malformed: Claim = { ...own(), ...unreadable(5) };
  const sees = (decision: { node: string | null; term: number }, current: Claim) =>
    step({
      leadership: leadership('leading'),
      snapshot: seen({ elected: versioned(decided(decision), version + 2), current }),
    });

  it.each([1, 2])('waits for the elector to repair the decision of term %i, which its claim shows', (old) => {
    expect(sees({ node: 'b1', term: old }, own({ status: 'READY' }))).toBeNull();
  });

  it.each([1, 2])('obeys if its claim does not show a later term than %i', (old) => {
    const rewritten = own({ status: 'READY', term: 1 });
    expect(sees({ node: 'b1', term: old }, rewritten)).toMatchObject({ do: 'release', newLeader: 'b1' });
  });

  it('obeys without a readable claim, but only a decision that names a node', () => {
    expect(sees({ node: 'b1', term: 1 }, malformed)).toMatchObject({ do: 'release', newLeader: 'b1' });
    expect(sees({ node: self, term: 1 }, malformed)).toMatchObject({ do: 'write-ready' });
    expect(sees({ node: null, term: 0 }, malformed)).toBeNull();
  });
});

describe('a node that has released', () => {
  const released = leadership('released');

  it('forgets the leadership when its claim is gone', () => {
    const isGone = { do: 'forget-leadership', why: 'its claim is gone' };
    expect(step({ leadership: released, snapshot: seen() })).toEqual(isGone);
    const later = seen({ current: own({ token: token + 1n, term: term + 1 }) });
    expect(step({ leadership: released, snapshot: later })).toEqual(isGone);
  });

  it('forgets it without a connection too, once the session has ended', () => {
    expect(step({ leadership: released, snapshot: null })).toBeNull();
    expect(step({ leadership: released, snapshot: null, sessionOver: true })).toEqual({
      do: 'forget-leadership',
      why: 'its session has ended, and the claim with it',
    });
  });
});

it('a healthy node whose registration cannot be read claims all the same', () => {
  expect(step({ snapshot: seen({ self: unreadable(3) }) })).toMatchObject({ do: 'claim' });
  expect(step({ snapshot: seen({ self: unreadable(3) }), healthy: false })).toBeNull();
});
