/** The observations that an elector remembers, and for how long. */
import { describe, expect, it } from 'vitest';
import { type ElectorMemory, look, newElector } from '../../src/core/elector-memory.js';
import type { GroupSnapshot } from '../../src/model/snapshot.js';
import type { Elected } from '../../src/model/znodes.js';
import { Bench } from './bench.js';
import { claim, config, decided, group, members, unhealthy, unreadable, versioned } from './builders.js';

const minute = 60_000;
const elected = decided({ node: 'a1', term: 1 });
const taking = claim('a1', { status: 'PROGRESS' });
const follower = { name: 'a1-0000000000', version: 0, below: 'z1-0000000000', second: true };

interface Look {
  readonly memory?: ElectorMemory;
  readonly decision?: Elected;
  readonly nowMs?: number;
}

function seen(change: Partial<GroupSnapshot>, { memory = newElector, decision = elected, nowMs = 0 }: Look) {
  const snapshot = group({ elected: versioned(decision), members: members('a1', 'b1'), ...change });
  const observation = { snapshot, members: snapshot.members ?? [], config: config(), nowMs };
  return look(observation, decision, memory);
}

describe('what was observed', () => {
  it('is remembered for a minute, and no longer', () => {
    const memory = seen({}, {});
    expect(memory.watched).toMatchObject({ condition: { kind: 'unclaimed' }, sinceMs: 0 });
    expect(seen({}, { memory, nowMs: minute }).watched?.sinceMs).toBe(0);
    expect(seen({}, { memory, nowMs: minute + 1 }).watched?.sinceMs).toBe(minute + 1);
  });

  it('of an alarm counts for as long as the leader is stuck', () => {
    const memory = { ...newElector, alarmed: 100n };
    expect(seen({ current: claim('b1') }, { memory }).alarmed).toBe(100n);
    expect(seen({ current: claim('a1') }, { memory }).alarmed).toBeNull();
    expect(seen({ current: null }, { memory }).alarmed).toBeNull();
  });
});

describe('a claim in PROGRESS', () => {
  const memory = seen({ current: taking }, {});

  it('is remembered, also when it is gone, malformed, or replaced by that of another node', () => {
    const { progress } = memory;
    expect(progress).toMatchObject({ node: 'a1', token: 100n, isOrphaned: false });
    const replacing = claim('b1', { token: 101n });
    for (const current of [null, { ...taking, ...unreadable() }, replacing])
      expect(seen({ current }, { memory }).progress).toEqual(progress);
  });

  it('is forgotten once its node is READY, also if that node was evicted', () => {
    const current = claim('a1');
    expect(seen({ current }, { memory }).progress).toBeNull();
    expect(seen({ current, members: members('b1') }, { memory }).progress).toBeNull();
  });

  it.each([
    ['is not the elector', follower],
    ['has no seat', null],
  ])('is not remembered by a node that %s. It counts no nodes of a site either', (_, seat) => {
    expect(seen({ current: taking, seat }, {})).toMatchObject({ progress: null, sites: null });
    expect(seen({ current: taking, seat }, { memory })).toMatchObject({ progress: null, sites: null });
  });
});

describe('the READY node', () => {
  it('is remembered with the instant at which its claim was first seen to be READY', () => {
    const current = claim('a1');
    const memory = seen({ current }, { nowMs: 5 });
    expect(memory.ready).toEqual({ token: 100n, sinceMs: 5 });
    expect(seen({ current }, { memory, nowMs: 9 }).ready).toEqual({ token: 100n, sinceMs: 5 });
    const other = claim('a1', { token: 101n });
    expect(seen({ current: other }, { memory, nowMs: 9 }).ready).toEqual({ token: 101n, sinceMs: 9 });
  });

  it('does not exist while no node is elected, even if a session that is not registered owns the claim', () => {
    const nobody = decided({ term: 2 });
    expect(seen({ current: claim('c1') }, { decision: nobody }).ready).toBeNull();
    expect(seen({ current: null }, { decision: nobody }).ready).toBeNull();
  });
});

describe('the time for which a node has been eligible', () => {
  it('starts over when an ineligible node becomes eligible', () => {
    const failback = { failback: 'auto', failbackHold: '10s' } as const;
    const bench = new Bench(['a1', 'b1'], { sites: { b: { priority: 200 } }, ...failback });
    bench.updateRegistration('b1', unhealthy);
    bench.lead();
    bench.nowMs += 30_000;
    bench.settle();
    bench.updateRegistration('b1', { health: { ok: true, reason: null } });
    bench.advance(9_999);
    expect(bench.node).toBe('a1');
    bench.advance(1);
    expect(bench.node).toBe('b1');
  });
});
