import { describe, expect, it } from 'vitest';
import { overdueMs, watch } from '../../src/core/watchdog.js';
import type { GroupSnapshot } from '../../src/model/snapshot.js';
import {
  byHand,
  claim,
  config,
  decided,
  epoch0Ms,
  group,
  member,
  members,
  unreadable,
  versioned,
} from './builders.js';

const settings = config({
  timeouts: { claim: '5s', prepare: '1s', takeover: '20s', release: '10s', grace: '1s' },
});
const elected = decided({ node: 'b1', term: 2 });
const seen = (change: Partial<GroupSnapshot> = {}) =>
  group({ elected: versioned(elected, 4), members: members('a1', 'b1'), ...change });
const condition = (change: Partial<GroupSnapshot>, used = settings) =>
  watch(seen(change), elected, used, null, 0)?.condition ?? null;

describe('what stands in the way of a transition', () => {
  it('the elected node, while nobody owns the claim and it has not claimed', () => {
    expect(condition({})).toEqual({ kind: 'unclaimed', node: 'b1' });
  });

  it('nothing to wait for where the elected node is not there, or may not be hurried', () => {
    expect(condition({ members: members('a1') })).toBeNull();
    expect(condition({ members: null })).toBeNull();
    expect(condition({}, { ...settings, paused: byHand })).toBeNull();
  });

  it('the elected node, while it takes over, known by its session', () => {
    const current = claim('b1', { status: 'PROGRESS' });
    expect(condition({ current })).toEqual({ kind: 'taking-over', node: 'b1' });
    expect(condition({ current: { ...current, ...unreadable() } })).toEqual({
      kind: 'taking-over',
      node: 'b1',
    });
    expect(condition({ current: claim('b1') })).toBeNull();
  });

  it('any other owner of the claim, READY or not', () => {
    for (const status of ['PROGRESS', 'READY'] as const) {
      expect(condition({ current: claim('a1', { status }) })).toEqual({ kind: 'holding', node: 'a1' });
    }
  });

  it('a session that nobody is registered with, as whom its claim names, if it can be read', () => {
    const current = claim('b1', { owner: 99n });
    expect(condition({ current })).toEqual({ kind: 'holding', node: 'b1' });
    expect(condition({ current, members: null })).toEqual({ kind: 'holding', node: 'b1' });
    expect(condition({ current: { ...current, ...unreadable() } })).toEqual({ kind: 'holding', node: null });
  });
});

describe('the time it may take', () => {
  it.each<[string, Partial<GroupSnapshot>, number]>([
    ['to claim', {}, 5_000],
    ['to take over', { current: claim('b1', { status: 'PROGRESS' }) }, 22_000],
    ['to release', { current: claim('a1') }, 12_000],
  ])('%s', (_, change, limitMs) => {
    const watched = watch(seen(change), elected, settings, null, 100);
    if (watched === null) throw new Error('nothing is watched');
    expect(watched).toMatchObject({ sinceMs: 100, limitMs });
    expect(overdueMs(watched, 100 + limitMs - 1)).toBeLessThan(0);
    expect(overdueMs(watched, 100 + limitMs)).toBe(0);
  });

  it('to claim runs again for a node that has restarted', () => {
    const restarted = members('a1', 'b1').map((one) => (one.node === 'b1' ? { ...one, owner: 999n } : one));
    const before = watch(seen(), elected, settings, null, 100);
    expect(watch(seen(), elected, settings, before, 4_900)?.sinceMs).toBe(100);
    const again = watch(seen({ members: restarted }), elected, settings, before, 4_900);
    expect(again).toMatchObject({ firstMs: 100, sinceMs: 4_900 });
    if (again === null) throw new Error('nothing is watched');
    expect(overdueMs(again, 5_200)).toBeLessThan(0);
    // The total time is still limited, even if the node restarts repeatedly.
    expect(overdueMs({ ...again, sinceMs: 9_900 }, 10_099)).toBeLessThan(0);
    expect(overdueMs({ ...again, sinceMs: 9_900 }, 10_100)).toBe(0);
  });

  it('to claim runs again for a node that has led between two looks', () => {
    const led = members('a1', 'b1').map((one) => {
      if (one.node !== 'b1' || one.value === null) return one;
      return { ...one, value: { ...one.value, lastTakeover: { token: '77', durationMs: 1 } } };
    });
    const before = watch(seen(), elected, settings, null, 100);
    const after = watch(seen({ members: led }), elected, settings, before, 20_000);
    expect(after).toMatchObject({ firstMs: 20_000, sinceMs: 20_000 });
    const history = versioned({ term: 2, fencingToken: '77' });
    const restarted = watch(seen({ history }), elected, settings, before, 20_000);
    expect(restarted).toMatchObject({ firstMs: 20_000 });
  });

  it('to claim runs again for a node that has restarted and led, by the token in the history', () => {
    const history = (fencingToken: string) => versioned({ term: 2, fencingToken });
    const before = watch(seen({ history: history('77') }), elected, settings, null, 100);
    const same = watch(seen({ history: history('77') }), elected, settings, before, 4_900);
    expect(same).toMatchObject({ firstMs: 100 });
    const led = watch(seen({ history: history('78') }), elected, settings, before, 4_900);
    expect(led).toMatchObject({ firstMs: 4_900 });
  });

  it('to release does not run again for a leader that has restarted and left its claim behind', () => {
    const current = claim('a1', { owner: 55n });
    const before = watch(
      seen({ current, members: members(member('a1', {}, { owner: 55n }), 'b1') }),
      elected,
      settings,
      null,
      100,
    );
    const restarted = seen({ current, members: members(member('a1', {}, { owner: 56n }), 'b1') });
    expect(watch(restarted, elected, settings, before, 4_900)).toMatchObject({
      condition: { kind: 'holding', node: 'a1' },
      session: 56n,
      firstMs: 100,
      sinceMs: 100,
    });
  });

  it('runs on while nothing changes, and again with another decision, claim or condition', () => {
    const holding = seen({ current: claim('a1') });
    const taking = seen({ current: claim('b1', { status: 'PROGRESS' }) });
    const again = versioned(elected, 5);
    const rewritten = versioned(elected, 4, epoch0Ms + 1);
    const since = (first: GroupSnapshot, then: GroupSnapshot) => {
      const before = watch(first, elected, settings, null, 100);
      return watch(then, elected, settings, before, 900)?.sinceMs;
    };
    expect(since(seen(), seen())).toBe(100);
    expect(since(seen(), seen({ elected: again }))).toBe(900);
    expect(since(seen(), seen({ elected: rewritten }))).toBe(900);
    expect(since(seen(), taking)).toBe(900);
    expect(since(taking, taking)).toBe(100);
    expect(since(taking, { ...taking, elected: again })).toBe(900);
    expect(since(taking, seen({ current: claim('b1', { status: 'PROGRESS', token: 101n }) }))).toBe(900);
    expect(since(holding, { ...holding, elected: again })).toBe(100);
    expect(since(holding, seen({ current: claim('a1', { token: 101n }) }))).toBe(900);
  });
});
