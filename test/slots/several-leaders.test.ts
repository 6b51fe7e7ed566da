import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { isPlainlyDue } from '../../src/core/round.js';
import type { groupConfigSchema } from '../../src/model/group-config.js';
import { slotCount, slotView } from '../../src/model/slots.js';
import type { Claim, GroupSnapshot, Member, SlotState } from '../../src/model/snapshot.js';
import { type HistoryHead, initialHistoryHead, type TransitionRecord } from '../../src/model/znodes.js';
import {
  type Commit,
  type GroupMemory,
  type GroupRound,
  groupRound,
  isGroupDue,
} from '../../src/slots/group-round.js';
import { constraints } from '../../strategies/constraints/index.js';
import {
  byHand,
  type ClaimChange,
  claim,
  config,
  decided,
  epoch0Ms,
  failure,
  group,
  member,
  sessionOf,
  strategyOf,
  takeoverDetail,
  unhealthy,
  versioned,
} from '../core/builders.js';

type Slot = Pick<SlotState, 'elected' | 'current'>;
type Settings = z.input<typeof groupConfigSchema>;

/**
 * A group of several slots with one elector. The elector's actions change the state as ZooKeeper would.
 * Elected nodes claim and become READY.
 */
class Slots {
  nowMs = 0;
  settings: Settings;
  members: Member[];
  memory: GroupMemory = new Map();
  readonly slots: Slot[] = [{ elected: versioned(decided(), 0), current: null }];
  readonly commits: Commit[] = [];
  readonly records: TransitionRecord[] = [];
  head: HistoryHead = initialHistoryHead;
  /** Decisions of slots that were removed. They remain stored. */
  readonly #past = new Map<number, Slot['elected']>();
  #configVersion = 1;
  #token = 100n;

  constructor(nodes: readonly string[], settings: Settings) {
    this.settings = settings;
    this.members = nodes.map((node, seat) => member(node, {}, { seat }));
  }

  get snapshot(): GroupSnapshot {
    const [first, ...others] = this.slots;
    if (first === undefined) throw new Error('there is always a first slot');
    return group({
      ...first,
      config: versioned(config(this.settings), this.#configVersion),
      others: others.map((slot, index) => ({ slot: index + 2, ...slot })),
      members: this.members,
      history: versioned(this.head, this.records.length),
    });
  }

  /** The node that is elected in each slot. */
  get elected(): (string | null | undefined)[] {
    return this.slots.map(({ elected }) => elected.value?.node);
  }

  get reasons(): (string | undefined)[] {
    return this.slots.map(({ elected }) => elected.value?.reason);
  }

  configure(settings: Settings): void {
    this.settings = settings;
    this.#configVersion += 1;
  }

  without(node: string): void {
    this.members = this.members.filter((one) => one.node !== node);
    for (const [index, slot] of this.slots.entries()) {
      if (slot.current?.value?.node === node) this.slots[index] = { ...slot, current: null };
    }
  }

  with(
    node: string,
    ...change: Parameters<typeof member> extends [string, ...infer Rest] ? Rest : never
  ): void {
    this.members = [...this.members.filter((one) => one.node !== node), member(node, ...change)];
  }

  round(): GroupRound {
    const snapshot = this.snapshot;
    const settings = config(this.settings);
    const round = groupRound({
      self: 'elector',
      snapshot,
      members: this.members,
      config: settings,
      strategy: strategyOf(settings),
      memory: this.memory,
      clock: { epochMs: epoch0Ms + this.nowMs, atMs: this.nowMs },
      nowMs: this.nowMs,
      constraints,
      canFence: false,
      observedSinceMs: Number.NEGATIVE_INFINITY,
    });
    this.memory = round.memory;
    return round;
  }

  /** Runs one round, and writes the decisions that it commits. */
  decide(): void {
    for (const { action } of this.round().actions) if (action.do === 'commit') this.#write(action);
  }

  /** Sets the claim of the slot's elected node. Null removes the claim. */
  claims(slot: number, change: ClaimChange | null): void {
    const { elected } = this.#slot(slot - 1);
    const node = elected.value?.node ?? null;
    this.slots[slot - 1] = {
      elected,
      current: node === null || change === null ? null : claim(node, change),
    };
  }

  /** Runs rounds until there is nothing left to do and every elected node is READY. */
  settle(): void {
    for (let rounds = 0; rounds < 20; rounds += 1) {
      const actions = this.round().actions.flatMap(({ action }) => (action.do === 'commit' ? [action] : []));
      for (const action of actions) this.#write(action);
      if (!this.handOver() && actions.length === 0) return;
    }
    throw new Error('it does not settle');
  }

  #write(commit: Commit): void {
    this.commits.push(commit);
    for (const { slot, electedVersion, elected } of commit.decisions) {
      const index = slot - 1;
      if (this.slots[index]?.elected.version !== electedVersion)
        throw new Error(`BAD_VERSION in slot ${slot}`);
      const written = versioned(elected, electedVersion + 1, epoch0Ms + this.nowMs);
      this.slots[index] = { ...this.#slot(index), elected: written };
    }
    const count = this.slots[0]?.elected.value?.slots ?? 1;
    while (this.slots.length < count) this.slots.push(this.#slot(this.slots.length));
    for (const [index, { elected }] of this.slots.splice(count).entries())
      this.#past.set(count + index, elected);
    for (const record of commit.records) this.#record(record);
    const nodes = this.elected.filter((node) => node != null);
    expect(new Set(nodes).size, `${nodes}`).toBe(nodes.length);
  }

  #record(record: TransitionRecord): void {
    this.records.push(record);
    const { slot = 1, term, fencingToken } = record;
    if (slot === 1) this.head = { ...this.head, term, fencingToken };
    else this.head = { ...this.head, slots: { ...this.head.slots, [slot]: { term, fencingToken } } };
  }

  #slot(index: number): Slot {
    const elected = this.#past.get(index) ?? versioned(decided(), 0);
    return this.slots[index] ?? { elected, current: null };
  }

  /**
   * Makes every node take one step: it releases its claim, or claims and becomes READY. Returns whether a
   * claim changed.
   */
  handOver(): boolean {
    const claims: (Claim | null)[] = this.slots.map(({ elected, current }) => {
      const node = elected.value?.node ?? null;
      if (current !== null) return current.value?.node === node ? current : null;
      if (node === null || !this.members.some((one) => one.node === node)) return null;
      this.#token += 1n;
      return claim(node, { token: this.#token, term: elected.value?.term ?? 0, owner: sessionOf(node) });
    });
    const moved = claims.some((current, index) => current !== this.slots[index]?.current);
    for (const [index, current] of claims.entries()) this.slots[index] = { ...this.#slot(index), current };
    return moved;
  }
}

function led(nodes: readonly string[], settings: Settings): Slots {
  const slots = new Slots(nodes, settings);
  slots.settle();
  return slots;
}

const sites = { a: { priority: 100 }, b: { priority: 90 }, c: { priority: 80 } };

it('A9 a slot whose new leader fails is filled before another slot waits for the same better node', () => {
  const ranked = { ...sites, d: { priority: 70 } };
  const slots = led(['a1', 'd1'], { leaders: 2, failback: 'manual', sites: ranked });
  slots.with('b1');
  slots.with('c1');
  const to = (node: string) => ({ to: { node }, replacesTerm: 1, ...byHand });
  slots.configure({ leaders: 2, sites: ranked, switchover: to('c1') });
  slots.decide();
  expect(slots.elected).toEqual(['c1', 'd1']);
  slots.claims(1, { status: 'PROGRESS', term: 2, token: 900n });
  slots.decide();
  slots.with('c1', { lastFailure: { electedVersion: 2, token: null, detail: takeoverDetail } });
  slots.claims(1, null);
  slots.decide();
  expect(slots.elected).toEqual(['a1', 'd1']);
});

describe('filling', () => {
  it('gives every slot the best of the nodes that are left, in one write once there are the slots', () => {
    const slots = led(['a1', 'a2', 'b1', 'c1', 'c2'], { leaders: 4, sites });
    expect(slots.elected).toEqual(['a1', 'a2', 'b1', 'c1']);
    expect(
      slots.commits.filter(({ decisions }) => decisions.length > 0).map(({ decisions }) => decisions.length),
    ).toEqual([1, 3]);
    expect(slots.commits[1]?.unchanged).toEqual([{ slot: 1, electedVersion: 1 }]);
    expect(slots.records.map(({ slot, term, node }) => [slot, term, node]).toSorted()).toEqual([
      [1, 1, 'a1'],
      [2, 1, 'a2'],
      [3, 1, 'b1'],
      [4, 1, 'c1'],
    ]);
  });

  it('fills the lowest slots first where there are too few nodes, and says why nobody has the others', () => {
    const slots = led(['a1', 'b1'], { leaders: 3 });
    slots.with('c1', unhealthy);
    const choice = slots.round().rounds.get(3)?.choice;
    expect(slots.elected).toEqual(['a1', 'b1', null]);
    expect(choice?.reason).toBe(
      'no node is eligible: c1: it is unhealthy: disk full; in other slots: a1, b1',
    );
    expect(choice?.ineligible[0]?.ineligibleReasons).toMatchObject([
      { kind: 'leads-slot', reason: 'it leads slot 1' },
    ]);
  });

  it('leaves a group of one leader as it is', () => {
    const slots = led(['a1', 'b1'], {});
    expect(slots.commits).toHaveLength(2);
    expect(slots.snapshot.elected.value).not.toHaveProperty('slots');
    expect(slots.records[0]).not.toHaveProperty('slot');
  });

  it('moves the slot whose leader is gone, and no other', () => {
    const slots = led(['a1', 'a2', 'b1', 'c1', 'c2'], { leaders: 3, sites });
    slots.without('a2');
    slots.settle();
    expect(slots.elected).toEqual(['a1', 'c1', 'b1']);
    expect(slots.slots.map(({ elected }) => elected.value?.term)).toEqual([1, 2, 1]);
  });

  it('has a better node take the place of the worst of the leaders, whichever slot that has', () => {
    const slots = new Slots(['c1', 'b1', 'b2'], { leaders: 3, sites });
    slots.settle();
    expect(slots.elected).toEqual(['b1', 'b2', 'c1']);
    slots.without('b1');
    slots.settle();
    slots.with('b3');
    slots.settle();
    slots.with('a1');
    slots.settle();
    expect(slots.round().rounds.get(1)?.choice?.reason).not.toContain('would be better');
    slots.nowMs += 6_000;
    slots.settle();
    expect(slots.elected).toEqual(['b3', 'b2', 'a1']);
  });

  it('excludes a node that failed in one slot from every slot', () => {
    const slots = led(['a1', 'b1', 'c1'], { leaders: 2, sites });
    slots.slots[1] = {
      elected: versioned(decided({ node: null, term: 2, failures: [failure('b1'), failure('c1')] }), 5),
      current: null,
    };
    slots.without('a1');
    slots.nowMs += 1_000;
    const [first, second] = [1, 2].map((slot) => slots.round().rounds.get(slot)?.choice);
    expect(first?.node).toBeNull();
    expect(second?.node).toBeNull();
    expect(first?.reason).toContain('will be retried in');
  });
});

describe('how many', () => {
  it('gives up the slots above when there are to be fewer, and forgets them once they are released', () => {
    const slots = led(['a1', 'a2', 'b1', 'c1'], { leaders: 3, sites });
    slots.configure({ leaders: 1, sites });
    const round = slots.round();
    expect(isGroupDue(round, slots.snapshot)).toBe(true);
    expect([...round.rounds.values()].filter(isPlainlyDue)).toHaveLength(2);
    slots.settle();
    expect(slots.slots).toHaveLength(1);
    expect(slots.elected).toEqual(['a1']);
    expect(slots.slots[0]?.elected.value?.slots).toBeUndefined();
    expect(
      slots.commits.flatMap(({ decisions }) => decisions).find(({ slot }) => slot === 3)?.elected,
    ).toMatchObject({ term: 1 });
    const last = slots.commits
      .flatMap(({ decisions }) => decisions)
      .filter(({ slot }) => slot === 3)
      .at(-1);
    expect(last?.elected).toMatchObject({ node: null, cause: 'planned', term: 2 });
    expect(last?.elected.reason).toBe('slot 3 is removed, because leaders is now 1');
  });

  it('fills the new ones when there are to be more', () => {
    const slots = led(['a1', 'a2', 'b1', 'c1'], { leaders: 1, sites });
    slots.configure({ leaders: 3, sites });
    slots.settle();
    expect(slots.elected).toEqual(['a1', 'a2', 'b1']);
    expect(slots.slots[0]?.elected.value).toMatchObject({ term: 1, slots: 3 });
  });

  it('notices an elector that does not decide that there are to be more', () => {
    const slots = led(['a1', 'a2', 'b1', 'c1'], { leaders: 1, sites });
    expect(isGroupDue(slots.round(), slots.snapshot)).toBe(false);
    slots.configure({ leaders: 3, sites });
    expect(isGroupDue(slots.round(), slots.snapshot)).toBe(true);
  });

  it('knows of slots whose number was lost with the decision that held it: deleted, and created again', () => {
    const slots = led(['a1', 'a2', 'b1', 'c1'], { leaders: 3, sites });
    const lost = { ...slots.snapshot, elected: versioned(decided(), 0), config: versioned(config({}), 9) };
    expect(slotCount(lost, 1)).toBe(3);
    expect(slotCount({ ...lost, history: null }, 3)).toBe(3);
    expect(slotCount({ ...lost, history: null }, 1)).toBe(1);
  });

  it('fills a slot again that was given up because a person requests it, not because a node failed', () => {
    const slots = led(['a1', 'a2', 'b1'], { leaders: 2, sites });
    slots.configure({ leaders: 1, sites });
    slots.settle();
    expect(slots.elected).toEqual(['a1']);
    slots.configure({ leaders: 2, sites });
    slots.settle();
    expect(slots.elected).toEqual(['a1', 'a2']);
    expect(slots.slots[1]?.elected.value).toMatchObject({ term: 3, cause: 'planned' });
    expect(slots.reasons[1]).toMatch(/^slot 2 was added again: /);
  });

  it('takes no slot away on the strength of a configuration that cannot be read', () => {
    const slots = led(['a1', 'a2', 'b1'], { leaders: 3, sites });
    const { snapshot } = slots;
    const malformed = { ...snapshot.config, value: null, problem: 'invalid JSON' };
    const settings = config({ sites });
    const { actions } = groupRound({
      ...{ self: 'elector', snapshot: { ...snapshot, config: malformed }, members: slots.members },
      ...{
        config: settings,
        strategy: strategyOf(settings),
        memory: slots.memory,
        constraints,
        canFence: false,
      },
      observedSinceMs: Number.NEGATIVE_INFINITY,
      ...{ clock: { epochMs: epoch0Ms, atMs: 0 }, nowMs: 0 },
    });
    expect(actions).toEqual([]);
  });
});

describe('spreading', () => {
  it('softly prefers a site that holds no other slot', () => {
    const spread = { over: 'another-site' as const };
    const slots = led(['a1', 'a2', 'b1', 'b2'], { leaders: 3, sites, siteRules: { spread } });
    expect(slots.elected).toEqual(['a1', 'b1', 'a2']);
    expect(slots.reasons[2]).toContain('site a already has the leader of slot 1');
  });

  it('moves no more leaders than it takes when the rule comes later', () => {
    const slots = led(['a1', 'a2', 'b1', 'b2'], { leaders: 2, sites });
    expect(slots.elected).toEqual(['a1', 'a2']);
    slots.configure({ leaders: 2, sites, siteRules: { spread: { over: 'another-site', strength: 'hard' } } });
    slots.settle();
    expect(slots.elected).toEqual(['a1', 'b1']);
  });

  it('refuses a second slot in a site where the rule is hard', () => {
    const spread = { over: 'another-site' as const, strength: 'hard' as const };
    const slots = led(['a1', 'a2', 'b1', 'b2'], { leaders: 3, sites, siteRules: { spread } });
    expect(slots.elected).toEqual(['a1', 'b1', null]);
    const choice = slots.round().rounds.get(3)?.choice;
    expect(choice?.reason).toContain(
      'a2: site a already has the leader of slot 1, and no site may have two leaders',
    );
    slots.with('a2');
    slots.without('a1');
    slots.settle();
    expect(slots.elected).toEqual(['a2', 'b1', null]);
  });
});

describe('what a person requests', () => {
  const asks = (slot: number, to: string, force = false): Settings => ({
    leaders: 2,
    sites,
    switchover: { to: { node: to }, replacesTerm: 1, slot, force, ...byHand },
  });

  it('moves the slot it is about, and there the leader stays', () => {
    const slots = led(['a1', 'b1', 'c1'], { leaders: 2, sites });
    slots.configure(asks(2, 'c1'));
    slots.settle();
    expect(slots.elected).toEqual(['a1', 'c1']);
    slots.nowMs += 60_000;
    slots.settle();
    expect(slots.elected).toEqual(['a1', 'c1']);
  });

  it('never has a node lead two slots, whatever is requested', () => {
    const slots = led(['a1', 'b1', 'c1'], { leaders: 2, sites });
    slots.configure(asks(2, 'a1', true));
    slots.settle();
    expect(slots.elected).toEqual(['a1', 'b1']);
  });
});

it('of two slots that name one node one keeps it: the one whose claim it owns', () => {
  const slots = led(['a1', 'b1', 'c1'], { leaders: 2, sites });
  const [first] = slots.slots;
  slots.slots[0] = {
    elected: versioned(decided({ node: 'b1', term: 7, slots: 2 }), 9),
    current: first?.current ?? null,
  };
  slots.settle();
  expect(slots.elected).toEqual(['a1', 'b1']);
});

it('a slot sees the group as if it were the only one', () => {
  const slots = led(['a1', 'b1', 'c1'], { leaders: 2, sites });
  const view = slotView(slots.snapshot, 2);
  expect(view.elected.value?.node).toBe('b1');
  expect(view.history?.value).toEqual({ term: 1, fencingToken: String(view.current?.token) });
  expect(view.others?.map(({ slot }) => slot)).toEqual([1]);
});
