import { describe, expect, it } from 'vitest';
import { newElector } from '../../src/core/elector-memory.js';
import { type FencingInput, stuckLeaderActions } from '../../src/core/fencing.js';
import type { Claim, GroupSnapshot } from '../../src/model/snapshot.js';
import type { Elected } from '../../src/model/znodes.js';
import { claim, decided, group, member, members, unreadable, versioned } from './builders.js';

const token = 100n;
const limitMs = 34_000;
const held = claim('a1', { token, version: 3 });
/** A claim that cannot be read. Its owner is not registered. */
const anonymous: Claim = { ...claim('x1', { token, version: 3 }), ...unreadable(3) };

interface Case extends Partial<Omit<FencingInput, 'snapshot' | 'elected'>> {
  readonly elected?: Partial<Elected>;
  readonly snapshot?: Partial<GroupSnapshot>;
  /** Name of the claim's owner. Null if it is unknown. */
  readonly owner?: string | null;
}

/** Returns the actions of elector b1 when a1 has just exceeded its time limit, and c1 is elected. */
function actions({ elected = { node: 'c1' }, snapshot = {}, owner = 'a1', ...change }: Case = {}) {
  const condition = { kind: 'holding', node: owner } as const;
  const watched = { condition, key: 'k', firstMs: 0, session: null, sinceMs: 0, limitMs };
  const decision = decided(elected);
  return stuckLeaderActions({
    self: 'b1',
    snapshot: group({ elected: versioned(decision, 7), current: held, ...snapshot }),
    members: members('a1', 'b1', 'c1'),
    elected: decision,
    canFence: true,
    nowMs: limitMs,
    ...change,
    memory: { ...(change.memory ?? newElector), watched },
  });
}

const alarm = (message: string, node: string | null = 'a1') => ({ do: 'alarm', message, node });
const fence = (electedNode: { node: string; version: number } | null) => ({
  do: 'fence',
  fence: { token, node: 'a1', claimVersion: 3, electedVersion: 7, electedNode },
});
const stuck = 'a1 has not released leadership after 34s';
const byHand = 'stop the service on a1, then run petrel node evict a1 --dead';

describe('a claim that is not released in time', () => {
  it('is fenced, on the versions that were read', () => {
    expect(actions()).toEqual([
      alarm(`${stuck}; c1 is waiting. Fencing a1`),
      fence({ node: 'c1', version: 1 }),
    ]);
    expect(actions({ nowMs: limitMs - 1 })).toEqual([]);
  });

  it('is fenced if no node is elected', () => {
    const expected = [alarm(`${stuck}; no node is elected. Fencing a1`), fence(null)];
    expect(actions({ elected: { node: null } })).toEqual(expected);
  });

  it('is not fenced if its owner is unknown', () => {
    const message =
      'an unknown node has not released leadership after 34s; c1 is waiting. Petrel cannot fence it: find and stop the service that owns leader/current';
    expect(actions({ owner: null, snapshot: { current: anonymous } })).toEqual([alarm(message, null)]);
  });

  it('gets an alarm of its own after an alarm about an earlier claim', () => {
    const memory = { ...newElector, alarmed: token - 1n };
    expect(actions({ memory })).toContainEqual(alarm(`${stuck}; c1 is waiting. Fencing a1`));
    const [first] = actions({ memory, self: 'a1' });
    expect(first).toMatchObject({ do: 'alarm', node: 'a1' });
  });

  it('is left alone once it is gone', () => {
    expect(actions({ snapshot: { current: null } })).toEqual([]);
  });

  it('is not fenced while the registration of the elected node cannot be read', () => {
    const malformed = { ...member('c1'), ...unreadable(2) };
    expect(actions({ members: members('a1', 'b1', malformed) })).toEqual([
      alarm(`${stuck}; c1 is waiting. Petrel cannot fence it: ${byHand}`),
    ]);
  });

  it.each([
    [1, 1, false],
    [2, 2, false],
    [1, 2, true],
    [2, 1, true],
  ])(
    'of slot %i, while the elected node has claimed slot %i: is fenced: %s',
    (slot, claimedSlot, isFenced) => {
      const candidate = member('c1', { claimedUnder: 7, claimedSlot });
      const found = actions({ members: members('a1', 'b1', candidate), snapshot: { slot } });
      expect(found.some((action) => action.do === 'fence')).toBe(isFenced);
    },
  );
});

describe('an elector whose fences have failed twice', () => {
  const failedTwice = { ...newElector, alarmed: token, failedFences: { token, count: 2 } };
  const seatless = (node: string) => member(node, {}, { seat: null });

  it('hands over the elector role, and says why', () => {
    const reason = 'onFence failed 2 times on this node: another elector must fence a1';
    expect(actions({ memory: failedTwice })).toEqual([{ do: 'give-up-seat', reason, configVersion: null }]);
  });

  it('says in its alarm that another elector must fence', () => {
    const [first] = actions({ memory: { ...failedTwice, alarmed: null } });
    expect(first).toEqual(
      alarm(`${stuck}; c1 is waiting. Another node must become the elector and fence it`),
    );
  });

  it('tries again if only itself and the stuck leader have seats', () => {
    const alone = members('a1', 'b1', seatless('c1'));
    expect(actions({ memory: failedTwice, members: alone })).toEqual([fence({ node: 'c1', version: 1 })]);
  });
});

describe('an elector that is the stuck leader itself', () => {
  const own = { self: 'a1' };

  it('leaves the fence to another node that has a seat', () => {
    const reason = 'this node has not released leader/current in time: another elector must fence it';
    expect(actions(own)).toEqual([
      alarm(`${stuck}; c1 is waiting. Another node must become the elector and fence it`),
      { do: 'give-up-seat', reason, configVersion: null },
    ]);
  });

  it('keeps its role if no other node has a seat, and raises an alarm', () => {
    const alone = members('a1', member('b1', {}, { seat: null }), member('c1', {}, { seat: null }));
    const expected = [alarm(`${stuck}; c1 is waiting. No other node can fence it: ${byHand}`)];
    expect(actions({ ...own, members: alone })).toEqual(expected);
    const unseated = member('a1', {}, { seat: null });
    expect(actions({ ...own, members: members(unseated, 'b1', 'c1') })).toHaveLength(2);
  });
});
