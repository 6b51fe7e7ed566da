import { describe, expect, it } from 'vitest';
import type { Constraint } from '../../src/core/constraint.js';
import { type ElectorAction, electorRound, isPlainlyDue, newElector } from '../../src/core/round.js';
import { constraints } from '../../strategies/constraints/index.js';
import type { ReadyStrategy } from '../../strategies/index.js';
import { Bench } from './bench.js';
import {
  byHand,
  claim,
  config,
  decided,
  failure,
  group,
  instant,
  member,
  members,
  sessionOf,
  strategyOf,
  unhealthy,
  unreadable,
  versioned,
} from './builders.js';

const minute = 60_000;
const hour = 60 * minute;
const sites = { a: { priority: 100 }, b: { priority: 50 } };
const verbs = (actions: readonly ElectorAction[]) => actions.map(({ do: verb }) => verb);

/** Returns a group of `nodes` whose first node is READY. */
function led(nodes: readonly string[], settings: ConstructorParameters<typeof Bench>[1] = {}): Bench {
  const bench = new Bench(nodes, settings);
  bench.lead();
  return bench;
}

describe('a round', () => {
  it('elects, once it knows the time', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    expect(verbs(bench.settle())).toEqual(['read-clock', 'write-elected']);
    expect(bench.elected.value).toEqual({
      node: 'a1',
      site: 'a',
      term: 1,
      strategy: 'site-priority',
      reason: 'site a has priority 100, the node has priority 100',
      cause: 'first',
      by: 'elector',
      previous: null,
      priorities: [100, 100],
      requested: null,
      failedSite: null,
      failures: [],
    });
  });

  it('names the versions it was decided on', () => {
    const situation = {
      self: 'a1',
      snapshot: group({ config: versioned(config(), 17), elected: versioned(decided(), 23) }),
      members: members('a1'),
      config: config(),
      strategy: strategyOf(config()),
      memory: newElector,
      clock: { epochMs: 0, atMs: 0 },
      nowMs: 0,
      constraints,
      canFence: false,
      observedSinceMs: 0,
    };
    expect(electorRound(situation).actions).toMatchObject([{ configVersion: 17, electedVersion: 23 }]);
  });

  it('looks again at the minutes of the day at which a constraint may find otherwise', () => {
    const atNight: Constraint = {
      ...{ kind: 'at-night', description: 'it is night', ends: 'planned', canBeForced: true },
      minutes: [1],
      check: (_, { nowMs }) => (nowMs < minute ? { strength: 'hard', reason: 'it is night' } : null),
    };
    const situation = {
      ...{ self: 'a1', snapshot: group({}), members: members('a1'), config: config() },
      ...{ strategy: strategyOf(config()), memory: newElector, canFence: false, observedSinceMs: 0 },
      ...{ constraints: [...constraints, atNight], clock: { epochMs: 40_000, atMs: 0 }, nowMs: 0 },
    };
    const { choice, recheckInMs } = electorRound(situation);
    expect(choice?.reason).toBe('no node is eligible: a1: it is night');
    expect(recheckInMs).toBe(20_000);
    expect(electorRound({ ...situation, nowMs: 20_000 }).actions).toEqual([{ do: 'read-clock' }]);
    const later = { ...situation, clock: { epochMs: minute, atMs: 20_000 }, nowMs: 20_000 };
    expect(electorRound(later).choice?.node).toBe('a1');
  });

  it('changes nothing that it was given', () => {
    const bench = led(['a1', 'b1'], { sites, failback: 'manual' });
    bench.fail();
    const freeze = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      Object.freeze(value);
      Object.values(value).forEach(freeze);
    };
    freeze(bench.snapshot);
    freeze(bench.memory);
    expect(verbs(bench.settle())).toEqual(['write-elected']);
  });

  it('with a READY leader and nothing new writes nothing and sets no timer', () => {
    const bench = led(['a1', 'b1'], { sites });
    const { actions, recheckInMs } = bench.round();
    expect(actions).toEqual([]);
    expect(recheckInMs).toBeNull();
    expect(bench.advance(24 * hour)).toEqual([]);
  });
});

describe('a failed takeover', () => {
  it('excludes the node by its own word, elects the next, and records who and why', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.fail('exit code 7');
    expect(verbs(bench.settle())).toEqual(['write-elected']);
    expect(bench.node).toBe('b1');
    expect(bench.elected.value?.failures).toEqual([
      failure('a1', { reason: 'takeover failed: exit code 7', until: instant(10_000) }),
    ]);
    expect(bench.reason).toBe(
      `instead of a1 (it is in backoff until ${instant(10_000)}: takeover failed: exit code 7): site b has priority 50, the node has priority 100`,
    );
    expect(bench.records).toMatchObject([
      {
        term: 1,
        node: 'a1',
        outcome: 'FAILED',
        error: { phase: 'takeover', reason: 'exit code 7', exitCode: 1 },
      },
    ]);
  });

  it('counts only under the decision that it names', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.fail();
    bench.elected = { ...bench.elected, version: bench.elected.version + 1 };
    expect(bench.settle()).toEqual([]);
    expect(bench.node).toBe('a1');
  });

  it('is none of a leader that is READY, nor under a decision that is lost', () => {
    const bench = led(['a1', 'b1'], { sites });
    const { current } = bench;
    bench.fail();
    bench.current = current;
    expect(bench.settle()).toEqual([]);
    bench.ready();
    bench.elected = unreadable(bench.elected.version);
    if (current?.value == null) throw new Error('no claim');
    bench.current = { ...current, value: { ...current.value, status: 'PROGRESS' }, problem: null };
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'a1', failures: [] });
  });

  it('P29 a claim that vanishes in PROGRESS is one too, and is not forgotten when the write fails', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.renew('a1');
    expect(verbs(bench.round().actions)).toEqual(['write-elected']);
    expect(verbs(bench.round().actions)).toEqual(['write-elected']);
    bench.settle();
    expect(bench.node).toBe('b1');
    expect(bench.reason).toContain('its claim disappeared during the takeover');
  });

  it('P29 also when the node has claimed again meanwhile', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.renew('a1');
    bench.claim();
    bench.settle();
    expect(bench.node).toBe('b1');
  });

  it('is plainly due to be answered, while that another would be better is a matter of opinion', () => {
    const bench = new Bench(['a1'], { sites, failback: 'auto', failbackHold: '10s' });
    bench.lead();
    expect(isPlainlyDue(bench.round())).toBe(false);
    bench.configure({ sites: { ...sites, b: { priority: 300 } }, failback: 'auto', failbackHold: '10s' });
    bench.join('b1');
    bench.settle();
    bench.nowMs += 10_000;
    const better = bench.round();
    expect(verbs(better.actions)).toEqual(['write-elected']);
    expect(isPlainlyDue(better)).toBe(false);
    bench.crash('a1');
    expect(isPlainlyDue(bench.round())).toBe(true);
  });

  it('a claim that a living node releases to claim again is none', () => {
    const bench = new Bench(['a1'], { sites });
    bench.settle();
    bench.claim();
    // Another node was elected and crashed immediately. a1 had begun to release its claim. It is elected
    // again, and makes a new claim.
    bench.elected = versioned(decided({ node: 'a1', term: 3 }), bench.elected.version + 2);
    bench.settle();
    bench.current = null;
    expect(bench.settle()).toEqual([]);
    bench.claim();
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'a1', term: 3, failures: [] });
    bench.crash('a1');
    bench.settle();
    expect(bench.elected.value?.failures).toMatchObject([{ node: 'a1', count: 1 }]);
  });

  it('P29 the candidate’s agent dies: the next is elected at once', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.crash('a1');
    bench.settle();
    expect(bench.node).toBe('b1');
    expect(bench.elected.value?.failures).toMatchObject([{ node: 'a1', count: 1 }]);
  });

  it('a claim that became READY is none, whatever vanished before', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.current = null;
    bench.claim();
    bench.ready();
    bench.settle();
    expect(bench.node).toBe('a1');
    bench.current = null;
    bench.settle();
    expect(bench.elected.value?.failures).toEqual([]);
  });

  it('a claim that vanished before a newer one became READY is none, though its node is evicted just now', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.renew('a1');
    bench.claim();
    bench.ready();
    bench.members = bench.members.filter(({ node }) => node !== 'a1');
    bench.configure({ sites, paused: byHand });
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'a1', failures: [] });
  });

  it('a claim that became READY is none, though it and its node are gone before the next elector looks again', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    const seenByTheNextElector = bench.memory;
    bench.ready();
    bench.settle();
    bench.crash('a1');
    bench.memory = seenByTheNextElector;
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'b1', failures: [] });
  });

  it('a claim that became READY is none, though its session was over before anybody looked', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.ready();
    bench.members = bench.members.map((one) => (one.node === 'a1' ? { ...one, owner: 999n } : one));
    bench.settle();
    bench.current = null;
    bench.claim();
    bench.settle();
    expect(bench.node).toBe('a1');
    expect(bench.elected.value?.failures).toEqual([]);
  });

  it('a claim that the next elector saw, before it was the elector, is none: it may have become READY', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    const { snapshot } = bench;
    const seat = { name: 'b1-0000000001', version: 0, below: 'a1-0000000000', second: true };
    const situation = {
      self: 'b1',
      members: bench.members,
      config: bench.lastConfig,
      strategy: strategyOf(bench.lastConfig),
      clock: bench.clock,
      nowMs: bench.nowMs,
      constraints,
      canFence: false,
      observedSinceMs: 0,
    };
    bench.memory = electorRound({ ...situation, snapshot: { ...snapshot, seat }, memory: newElector }).memory;
    bench.crash('a1');
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'b1', failures: [] });
  });

  it('a claim that was seen from a seat that is lost is none: it may have become READY before the elector was back', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.ready();
    bench.renew('a1');
    bench.claim();
    bench.seat = 'a1-0000000007';
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'a1', failures: [] });
  });

  it('a claim that vanished under a decision that was deleted and created again since is none', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.nowMs += 1_000;
    bench.elected = { ...bench.elected, modifiedAtMs: bench.epochMs };
    bench.crash('a1');
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'b1', failures: [] });
  });

  it('P29 a claim that was read just before its node was gone is one', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.members = bench.members.filter(({ node }) => node !== 'a1');
    expect(bench.round()).toMatchObject({ actions: [], recheckInMs: 1 });
    bench.current = null;
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'b1', failures: [{ node: 'a1', count: 1 }] });
  });

  it('a claim whose node was evicted is none: it stands, at the next look too', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.members = bench.members.filter(({ node }) => node !== 'a1');
    bench.settle();
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'b1', failures: [] });
  });

  it('a claim that became READY and was gone again before anybody looked is none: the node says so', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.updateRegistration('a1', { lastTakeover: { token: String(bench.current?.token), durationMs: 7 } });
    bench.current = null;
    bench.settle();
    expect(bench.node).toBe('a1');
    expect(bench.elected.value?.failures).toEqual([]);
  });

  it('P36 the leader on its way out comes back when the requested one fails', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.configure({ sites, switchover: { to: { node: 'b1' }, replacesTerm: 1, ...byHand } });
    bench.settle();
    expect(bench.node).toBe('b1');
    bench.current = null;
    bench.claim();
    bench.fail();
    bench.settle();
    expect(bench.node).toBe('a1');
  });
});

describe('A9 a planned switchover that fails', () => {
  /** Returns a group during a switchover from a1 to b1. a0, which is first in order, is present. */
  function underWay(force = false): Bench {
    const settings = { strategy: 'first-available' };
    const bench = led(['a1', 'b1'], settings);
    bench.join('a0');
    bench.configure({ ...settings, switchover: { to: { node: 'b1' }, replacesTerm: 1, force, ...byHand } });
    bench.settle();
    expect(bench.node).toBe('b1');
    bench.current = null;
    return bench;
  }

  it('returns to the leader that was good a moment ago, however it fails', () => {
    for (const fails of [
      (bench: Bench) => bench.fail(),
      (bench: Bench) => bench.advance(hour),
      (bench: Bench) => bench.crash('b1'),
    ]) {
      const bench = underWay();
      bench.claim();
      bench.settle();
      fails(bench);
      bench.settle();
      expect(bench.decisions.find(({ term }) => term === 3)).toMatchObject({
        node: 'a1',
        reason: expect.stringContaining('it led before the failed handover to b1'),
      });
    }
  });

  it('does not where that leader is not eligible, where the new one has led, or where it was forced', () => {
    const ineligible = underWay();
    ineligible.updateRegistration('a1', unhealthy);
    ineligible.claim();
    ineligible.fail();
    ineligible.settle();
    expect(ineligible.node).toBe('a0');
    const hasLed = underWay();
    hasLed.lead();
    hasLed.crash('b1');
    hasLed.settle();
    expect(hasLed.node).toBe('a0');
    const forced = underWay(true);
    forced.claim();
    forced.fail();
    forced.settle();
    expect(forced.node).toBe('a0');
  });

  it('returns as well if a person lowers the priority of the new one before it is READY', () => {
    const bench = led(['a1', 'b1'], { sites: { b: { priority: 50 } } });
    bench.join('a0');
    const switchover = { to: { node: 'b1' }, replacesTerm: 1, ...byHand };
    bench.configure({ sites: { b: { priority: 50 } }, switchover });
    bench.settle();
    expect(bench.node).toBe('b1');
    bench.configure({ sites: { b: { priority: 10 } }, switchover });
    bench.settle();
    expect(bench).toMatchObject({ node: 'a1', term: 3 });
    expect(bench.reason).toMatch(/^the priority of site b fell .*; it led before the failed handover to b1/);
  });

  it('does not return after force, whatever is requested next', () => {
    const forced = underWay(true);
    forced.claim();
    forced.settle();
    const next = { to: { node: 'a1' }, replacesTerm: 99, ...byHand };
    forced.configure({ strategy: 'first-available', switchover: next });
    forced.fail();
    forced.settle();
    expect(forced.node).toBe('a0');
  });

  it('returns though another leader was forced out long before', () => {
    const settings = { strategy: 'first-available' };
    const bench = led(['b1', 'a1'], { ...settings, sites: { a: { drained: byHand } } });
    const force = { to: { node: 'a1' }, replacesTerm: 1, force: true, ...byHand };
    bench.configure({ ...settings, switchover: force });
    bench.handOver();
    expect(bench).toMatchObject({ node: 'a1', term: 2 });
    bench.join('a0');
    // The decision is planned, but no operator requested it. So the previous leader ranks first among nodes
    // of equal rank.
    const lowered = { a: { priority: 50 }, b: { priority: 90 } };
    bench.configure({ strategy: 'site-priority', sites: lowered, switchover: force });
    bench.settle();
    expect(bench).toMatchObject({ node: 'b1', term: 3 });
    bench.current = null;
    bench.claim();
    bench.fail();
    bench.settle();
    expect(bench.node).toBe('a1');
  });

  it('returns once a group that was paused meanwhile is resumed', () => {
    const bench = underWay();
    bench.claim();
    bench.configure({ strategy: 'first-available', paused: byHand });
    bench.fail();
    bench.advance(60_000);
    expect(bench).toMatchObject({ node: 'b1', term: 3 });
    bench.configure({ strategy: 'first-available' });
    bench.fail();
    bench.settle();
    expect(bench).toMatchObject({ node: 'a1', term: 4 });
  });

  it('returns to the leader that an operator had requested, and keeps it as before', () => {
    const settings = {
      strategy: 'preference-list',
      strategyOptions: { order: ['c0', 'm1', 'n1'] },
      failback: 'auto' as const,
    };
    const bench = led(['c0', 'm1', 'n1'], settings);
    const request = (node: string, replacesTerm: number) => {
      bench.configure({ ...settings, switchover: { to: { node }, replacesTerm, ...byHand } });
      bench.settle();
      bench.current = null;
      expect(bench.node).toBe(node);
    };
    request('m1', 1);
    bench.lead();
    request('n1', 2);
    bench.claim();
    bench.settle();
    // A second request while the first is under way: the last good leader is still the same.
    request('c0', 3);
    bench.claim();
    bench.fail();
    bench.lead();
    expect(bench).toMatchObject({ node: 'm1', term: 5 });
    expect(bench.elected.value?.requested).toEqual({ by: byHand.by, overridden: [] });
    expect(bench.elected.value?.handover).toBeUndefined();
    bench.advance(10 * hour);
    expect(bench).toMatchObject({ node: 'm1', term: 5 });
  });

  it('notes a request that is missed because leadership returns', () => {
    const settings = { strategy: 'preference-list', strategyOptions: { order: ['c0', 'm1', 'n1'] } };
    const bench = led(['c0', 'm1', 'n1'], settings);
    const request = (node: string, replacesTerm: number, force = false) =>
      bench.configure({ ...settings, switchover: { to: { node }, replacesTerm, force, ...byHand } });
    for (const [term, node] of ['m1', 'n1'].entries()) {
      request(node, term + 1);
      bench.settle();
      bench.current = null;
      if (node === 'm1') bench.lead();
      else bench.claim();
    }
    bench.updateRegistration('c0', { draining: true });
    request('c0', 3, true);
    bench.fail();
    bench.settle();
    expect(bench).toMatchObject({ node: 'm1', term: 4 });
    expect(bench.elected.value).toMatchObject({ requested: { by: byHand.by }, missedRequest: true });
  });

  it('returns to the leader after a second node has failed, once it may lead again', () => {
    const settings = { strategy: 'first-available', failback: 'manual' as const };
    const bench = led(['m1'], settings);
    bench.join('c1');
    bench.join('n1');
    bench.settle();
    expect(bench.node).toBe('m1');
    bench.configure({ ...settings, drained: { m1: byHand } });
    bench.settle();
    bench.current = null;
    expect(bench.node).toBe('c1');
    bench.claim();
    bench.fail();
    bench.settle();
    expect(bench).toMatchObject({ node: 'n1', elected: { value: { cause: 'failure' } } });
    bench.configure(settings);
    bench.claim();
    // Meanwhile the backoff of c1 ends.
    bench.advance(15_000);
    bench.fail();
    bench.settle();
    expect(bench.node).toBe('m1');
    expect(bench.reason).toContain('it led before the failed handover to n1');
  });

  it('tries a forced one again while paused and overrides the same rules', () => {
    const bench = led(['a1', 'b1'], {});
    bench.updateRegistration('b1', unhealthy);
    const force = { to: { node: 'b1' }, replacesTerm: 1, force: true, ...byHand };
    bench.configure({ paused: byHand, switchover: force });
    bench.settle();
    expect(bench.node).toBe('b1');
    bench.fail();
    bench.advance(60_000);
    expect(bench.elected.value).toMatchObject({
      node: 'b1',
      term: 3,
      requested: { overridden: ['unhealthy'] },
    });
  });
});

describe('backoffs', () => {
  it('double with each failure, up to the cap', () => {
    const bench = new Bench(['a1'], { backoff: { base: '10s', max: '1m' } });
    bench.settle();
    const lengths: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      bench.advance(bench.node === null ? 10_000 : 0);
      expect(bench.node).toBe('a1');
      bench.fail();
      bench.settle();
      const [record] = bench.elected.value?.failures ?? [];
      lengths.push(Date.parse(record?.until ?? '') - Date.parse(record?.failedAt ?? ''));
    }
    expect(lengths).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  it('one node alone is tried again after the base time, no sooner', () => {
    const bench = new Bench(['a1']);
    bench.settle();
    bench.fail();
    bench.settle();
    expect(bench.node).toBeNull();
    expect(bench.advance(9_999)).toEqual([]);
    expect(bench.node).toBeNull();
    bench.advance(1);
    expect(bench.node).toBe('a1');
    expect(bench.elected.value?.cause).toBe('retry');
  });

  it('of everyone: the one whose failure is longest ago is tried, then the next', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.fail();
    bench.settle();
    bench.nowMs += 3_000;
    expect(bench.node).toBe('b1');
    bench.fail();
    bench.settle();
    expect(bench.node).toBeNull();
    bench.advance(7_000);
    expect(bench.node).toBe('a1');
    bench.fail();
    bench.settle();
    expect(bench.node).toBeNull();
    bench.advance(3_000);
    expect(bench.node).toBe('b1');
  });

  it('end when the node becomes READY, with one write, and begin again from the base', () => {
    const bench = new Bench(['a1']);
    bench.settle();
    bench.fail();
    bench.advance(10_000);
    bench.claim();
    bench.settle();
    bench.ready();
    expect(verbs(bench.settle())).toEqual(['record', 'write-elected']);
    expect(bench.elected.value).toMatchObject({ term: 3, failures: [] });
    expect(bench.records.at(-1)).toMatchObject({ outcome: 'READY', electedAt: instant(10_000) });
    bench.fail();
    bench.settle();
    expect(bench.elected.value?.failures).toMatchObject([{ count: 1 }]);
  });

  it('end when a person clears the node’s failure, for this failure and for no later one', () => {
    const bench = new Bench(['a1', 'b1'], { sites, backoff: { base: '1h', max: '2h' } });
    bench.settle();
    bench.fail();
    bench.settle();
    expect(bench.node).toBe('b1');
    const clearedFailures = { a1: { failedAt: instant(0), ...byHand } };
    bench.configure({ sites, backoff: { base: '1h', max: '2h' }, clearedFailures });
    bench.crash('b1');
    bench.settle();
    expect(bench.node).toBe('a1');
    bench.nowMs += 1;
    bench.fail();
    bench.settle();
    expect(bench.node).toBeNull();
  });

  it('end when the node restarts, once', () => {
    const bench = new Bench(['a1'], { backoff: { base: '1h', max: '2h' } });
    bench.settle();
    bench.fail();
    bench.settle();
    bench.crash('a1');
    bench.join('a1', { incarnation: 'second' });
    bench.settle();
    expect(bench.node).toBe('a1');
    bench.fail();
    bench.settle();
    bench.crash('a1');
    bench.join('a1', { incarnation: 'third' });
    bench.settle();
    expect(bench.node).toBeNull();
    expect(bench.elected.value?.failures).toMatchObject([{ node: 'a1', count: 2, restarted: true }]);
  });

  it('are counted from a clock that was read lately', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.advance(24 * hour);
    bench.current = null;
    bench.settle();
    bench.claim();
    bench.fail();
    expect(verbs(bench.settle())).toEqual(['read-clock', 'write-elected']);
  });
});

describe('the watchdog', () => {
  it('an elected node that does not claim is in backoff when its time is over, no sooner', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    expect(bench.round().recheckInMs).toBe(10_000);
    expect(bench.advance(9_999)).toEqual([]);
    expect(bench.node).toBe('a1');
    bench.advance(1);
    expect(bench.node).toBe('b1');
    expect(bench.reason).toContain(
      'it did not claim leadership within 10000 ms (including the prepare hook)',
    );
  });

  it('a candidate that does not become READY is in backoff when its time is over, hook and grace', () => {
    const bench = new Bench(['a1', 'b1'], { sites, timeouts: { takeover: '20s', grace: '1s' } });
    bench.settle();
    bench.claim();
    expect(bench.advance(21_999)).toEqual([]);
    bench.advance(1);
    expect(bench.node).toBe('b1');
    expect(bench.reason).toContain('its takeover timed out after 20000 ms: it was not READY within 22000 ms');
  });

  it('calls a candidate late only by what was read after a write: a disconnected server shows no claim', () => {
    for (const isReady of [false, true]) {
      const bench = new Bench(['a1', 'b1'], { sites, timeouts: { takeover: '20s', grace: '1s' } });
      bench.settle();
      if (isReady) bench.claim();
      bench.settle();
      bench.nowMs += minute / 2;
      expect(verbs(bench.round().actions)).toEqual(['read-clock']);
      if (isReady) bench.ready();
      else bench.claim();
      bench.advance(1);
      expect(bench.elected.value).toMatchObject({ node: 'a1', failures: [] });
    }
  });

  it('an old leader that holds on is never held against the candidate', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.updateRegistration('a1', unhealthy);
    bench.settle();
    bench.advance(hour);
    expect(bench.node).toBe('b1');
    expect(bench.elected.value?.failures).toEqual([]);
    bench.current = null;
    expect(bench.advance(9_999)).toEqual([]);
    bench.advance(1);
    expect(bench.node).toBeNull();
  });

  it('a new elector gives everyone their time again', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.advance(9_000);
    bench.memory = newElector;
    bench.advance(9_000);
    expect(bench.node).toBe('a1');
    bench.advance(1_000);
    expect(bench.node).toBe('b1');
  });

  it('one that looked now and again goes on from what it saw; after a standstill it counts from the start', () => {
    const bench = new Bench(['a1', 'b1'], { sites, timeouts: { claim: '2m' } });
    bench.settle();
    for (let turn = 0; turn < 6; turn += 1) {
      expect(bench.node).toBe('a1');
      bench.nowMs += 20_000;
      bench.settle();
    }
    expect(bench.node).toBe('b1');
    bench.nowMs += 61_000;
    bench.settle();
    bench.advance(2 * minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('a1');
  });

  it('starts the time limit again with each decision, claim and release', () => {
    const bench = new Bench(['a1'], { timeouts: { takeover: '20s' } });
    bench.advance(9_000);
    bench.claim();
    bench.advance(23_999);
    expect(bench.elected.value?.failures).toEqual([]);
    bench.ready();
    bench.advance(hour);
    expect(bench.elected.value?.failures).toEqual([]);
  });
});

describe('an old leader that holds on', () => {
  /**
   * Returns a group in which b1 is elected, but a1 has owned the claim for longer than its release may take.
   */
  function stuck(change: Partial<Bench> = {}): Bench {
    const bench = Object.assign(led(['a1', 'b1', 'c1'], { sites }), change);
    bench.updateRegistration('a1', unhealthy);
    bench.settle();
    return bench;
  }

  it('raises one alarm, that names it', () => {
    const bench = stuck();
    expect(bench.advance(33_999)).toEqual([]);
    bench.advance(hour);
    expect(bench.alarms).toEqual([
      'a1 has not released leadership after 34s; c1 is waiting. No onFence hook is set: stop the service on a1, then run petrel node evict a1 --dead',
    ]);
  });

  it('does so however often the next is changed meanwhile', () => {
    const bench = stuck();
    for (const node of ['c1', 'b1']) {
      bench.advance(15_000);
      bench.updateRegistration(node, unhealthy);
    }
    bench.advance(4_000);
    expect(bench.node).toBeNull();
    expect(bench.alarms).toHaveLength(1);
  });

  it('is fenced where that can be done, and its claim is removed once it is', () => {
    const bench = stuck({ canFence: true });
    expect(verbs(bench.advance(34_000))).toEqual(['read-clock', 'alarm', 'fence']);
    expect(bench.alarms).toEqual(['a1 has not released leadership after 34s; c1 is waiting. Fencing a1']);
    const [fence] = bench.round().actions;
    if (fence?.do !== 'fence') throw new Error('no fence');
    expect(fence.fence).toMatchObject({ node: 'a1', token: bench.current?.token });
    bench.memory = { ...bench.memory, fenced: fence.fence };
    // The fence remains valid after a new decision, and after a new priority of the candidate.
    bench.updateRegistration('c1', { priority: 5 });
    bench.updateRegistration('c1', unhealthy);
    expect(verbs(bench.settle())).toEqual(['write-elected', 'remove-fenced-claim']);
    expect(bench.node).toBe('b1');
    expect(bench.current).toBeNull();
  });

  it.each([true, false])(
    'A6 leaves itself to another to fence where it elects itself, until it has (onFence: %s)',
    (canFence) => {
      const bench = stuck({ canFence, self: 'a1' });
      expect(verbs(bench.advance(34_000))).toEqual(['read-clock', 'alarm', 'give-up-seat']);
      expect(verbs(bench.advance(34_000))).toEqual(['give-up-seat']);
      Object.assign(bench, { self: 'b1', canFence: true, memory: newElector });
      bench.settle();
      expect(verbs(bench.advance(34_000))).toEqual(['read-clock', 'alarm', 'fence']);
    },
  );

  it('A6 is left to another elector to fence where that has failed twice', () => {
    const bench = stuck({ canFence: true });
    bench.advance(34_000);
    const token = bench.current?.token ?? 0n;
    const verbAfter = (failedFences: { token: bigint; count: number }) => {
      bench.memory = { ...bench.memory, failedFences };
      return verbs(bench.round().actions);
    };
    expect(verbAfter({ token, count: 1 })).toEqual(['fence']);
    expect(verbAfter({ token: token - 1n, count: 2 })).toEqual(['fence']);
    expect(verbAfter({ token, count: 2 })).toEqual(['give-up-seat']);
    const mayTry = ['a1', bench.self];
    bench.members = bench.members.map((one) => (mayTry.includes(one.node) ? one : { ...one, seat: null }));
    expect(verbAfter({ token, count: 2 })).toEqual(['fence']);
  });

  it('A6 does not fence itself where nobody else has a seat', () => {
    const bench = stuck({ canFence: true, self: 'a1' });
    bench.members = bench.members.map((one) => (one.node === 'a1' ? one : { ...one, seat: null }));
    expect(verbs(bench.advance(34_000))).not.toContain('fence');
  });

  it('is not fenced, nor reported, by what was read before a write of one’s own: it may have released since', () => {
    const bench = stuck({ canFence: true });
    bench.advance(33_999);
    bench.nowMs += 1;
    const [write, ...others] = bench.round().actions;
    expect([write?.do, others]).toEqual(['read-clock', []]);
    if (write !== undefined) bench.perform(write);
    // The claim was already released, but the disconnected server did not report it.
    bench.current = null;
    expect(bench.settle()).toEqual([]);
    expect(bench.alarms).toEqual([]);
  });

  it('is removed only on what was read: the decision, the candidate’s registration, the claim', () => {
    const bench = stuck({ canFence: true });
    bench.advance(34_000);
    const fence = {
      token: bench.current?.token ?? 0n,
      node: 'a1',
      claimVersion: 0,
      electedVersion: 0,
      electedNode: null,
    };
    bench.memory = { ...bench.memory, fenced: fence };
    const candidate = bench.members.find(({ node }) => node === 'c1');
    expect(bench.round().actions).toEqual([
      {
        do: 'remove-fenced-claim',
        fence: {
          token: bench.current?.token,
          node: 'a1',
          claimVersion: bench.current?.version,
          electedVersion: bench.elected.version,
          electedNode: { node: 'c1', version: candidate?.version },
        },
      },
    ]);
  });

  it('is not touched while the candidate is seen to have claimed: the claim was read before', () => {
    const bench = stuck({ canFence: true });
    bench.advance(34_000);
    bench.updateRegistration('c1', { claimedUnder: bench.elected.version });
    expect(bench.round().actions).toEqual([]);
    bench.memory = {
      ...bench.memory,
      fenced: {
        token: bench.current?.token ?? 0n,
        node: 'a1',
        claimVersion: 0,
        electedVersion: 0,
        electedNode: null,
      },
    };
    expect(bench.round().actions).toEqual([]);
  });

  it('is not fenced while the candidate is not registered: its claim would be seen by nothing', () => {
    const bench = stuck({ canFence: true });
    bench.configure({ sites, paused: { by: 'eve', reason: 'maintenance', at: '2026-01-01T00:00:00Z' } });
    bench.members = bench.members.filter(({ node }) => node !== 'c1');
    bench.advance(hour);
    expect(bench.node).toBe('c1');
    expect(bench.alarms).toEqual([
      'a1 has not released leadership after 34s; c1 is elected but not registered. Petrel cannot fence it: stop the service on a1, then run petrel node evict a1 --dead',
    ]);
    expect(bench.round().actions).toEqual([]);
  });

  it('is not fenced when it is an earlier life of the candidate', () => {
    const bench = led(['a1'], {});
    bench.canFence = true;
    bench.members = [member('a1', { incarnation: 'second' }, { owner: 99n })];
    bench.advance(hour);
    expect(bench.node).toBe('a1');
    expect(bench.alarms).toEqual([
      'a1 has not released leadership after 34s; a1 is waiting. Petrel cannot fence it: stop what remains of the earlier service on a1',
    ]);
    expect(verbs(bench.round().actions)).toEqual([]);
  });

  it('an alarm is raised again for another time that it holds on', () => {
    const bench = stuck();
    bench.advance(34_000);
    bench.updateRegistration('a1', { health: { ok: true, reason: null } });
    bench.updateRegistration('c1', unhealthy);
    bench.updateRegistration('b1', unhealthy);
    bench.settle();
    expect(bench.node).toBe('a1');
    bench.ready();
    bench.updateRegistration('c1', { health: { ok: true, reason: null } });
    bench.updateRegistration('a1', unhealthy);
    bench.advance(34_000);
    expect(bench.alarms).toHaveLength(2);
  });
});

describe('failback', () => {
  it('P48 a preferred site that flaps moves nothing; once it stays, leadership moves once', () => {
    const bench = led(['a1', 'b1'], { sites, failback: 'after:1m' });
    bench.crash('a1');
    bench.lead();
    const moves: string[] = [];
    for (let flap = 0; flap < 8; flap += 1) {
      bench.join('a1', {}, BigInt(1000 + flap));
      bench.advance(20_000);
      bench.crash('a1');
      bench.advance(20_000);
      moves.push(bench.node ?? 'nobody');
    }
    expect(new Set(moves)).toEqual(new Set(['b1']));
    bench.join('a1');
    bench.advance(minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('a1');
    expect(bench.term).toBe(3);
  });

  it('P48 a restart that no look has seen begins the hold again all the same', () => {
    const bench = led(['b1'], { sites, failback: 'after:1m' });
    bench.join('a1', {}, 1000n);
    bench.advance(50_000);
    bench.members = bench.members.map((one) => (one.node === 'a1' ? { ...one, owner: 1001n } : one));
    bench.advance(50_000);
    expect(bench.node).toBe('b1');
    bench.advance(10_000);
    expect(bench.node).toBe('a1');
  });

  it('P48 with manual nothing ever moves, and nothing is written', () => {
    const bench = led(['b1'], { sites, failback: 'manual' });
    bench.join('a1');
    expect(bench.advance(24 * hour)).toEqual([]);
    expect(bench.round().choice?.reason).toContain('a1 would be better');
  });

  it('P49 a cold start does not wait, whatever the hold', () => {
    const bench = new Bench(['a1'], { sites, failback: 'after:1h', minLeadership: '1h' });
    bench.settle();
    expect(bench.node).toBe('a1');
  });

  it('P49 a new configuration and a new elector move nothing', () => {
    const settings = { sites, failback: 'after:1m' };
    const bench = led(['b1'], settings);
    bench.join('a1');
    for (let turn = 0; turn < 5; turn += 1) {
      bench.advance(50_000);
      bench.memory = newElector;
      bench.configure(settings);
    }
    expect(bench.node).toBe('b1');
  });

  it('leaves a takeover under way alone, and counts the leadership of the elected node, not of the one before', () => {
    const bench = led(['a1', 'b1', 'b2'], {
      sites: { ...sites, c: { priority: 10 } },
      minLeadership: '1m',
      failback: 'auto',
    });
    bench.advance(hour);
    bench.updateRegistration('a1', unhealthy);
    bench.settle();
    bench.updateRegistration('a1', { health: { ok: true, reason: null } });
    bench.advance(20_000);
    expect(bench.node).toBe('b1');
    bench.current = null;
    bench.claim();
    bench.advance(20_000);
    expect(bench.node).toBe('b1');
    bench.ready();
    bench.advance(minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('a1');
  });

  it('to a node that cannot take over disturbs a good leader ever more rarely', () => {
    const bench = led(['b1'], { sites });
    bench.join('a1');
    let attempts = 0;
    while (bench.nowMs < 24 * hour) {
      bench.advance(5 * minute);
      if (bench.node !== 'a1') continue;
      attempts += 1;
      bench.current = null;
      bench.claim();
      bench.fail();
      bench.lead();
      expect(bench.node).toBe('b1');
    }
    expect(attempts).toBeGreaterThan(4);
    expect(attempts).toBeLessThan(9);
  });

  it('does not take back what a person requested', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.configure({ sites, switchover: { to: { node: 'b1' }, replacesTerm: 1, ...byHand } });
    bench.settle();
    bench.current = null;
    bench.lead();
    expect(bench.advance(24 * hour)).toEqual([]);
    expect(bench.node).toBe('b1');
    bench.updateRegistration('b1', unhealthy);
    bench.settle();
    expect(bench.node).toBe('a1');
    expect(bench.elected.value?.requested).toBeNull();
  });
});

describe('a forced failover', () => {
  function forced(): Bench {
    const bench = led(['a1', 'b1'], { sites });
    bench.updateRegistration('b1', unhealthy);
    const switchover = { to: { node: 'b1' }, replacesTerm: 1, force: true, ...byHand };
    bench.configure({ sites, switchover });
    bench.settle();
    return bench;
  }

  it('to an ineligible node stands', () => {
    const bench = forced();
    expect(bench.node).toBe('b1');
    expect(bench.settle()).toEqual([]);
  });

  it('what it overrode counts again once it has ended', () => {
    const bench = forced();
    bench.updateRegistration('b1', { health: { ok: true, reason: null } });
    expect(verbs(bench.settle())).toEqual(['write-elected']);
    expect(bench.elected.value).toMatchObject({
      node: 'b1',
      term: 2,
      requested: { by: 'ops', overridden: [] },
    });
    bench.updateRegistration('b1', unhealthy);
    bench.settle();
    expect(bench.node).toBe('a1');
  });
});

describe('a takeover by a requested node', () => {
  it('goes on under the same decision when what was overridden ends: a crash of it still counts', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.updateRegistration('b1', unhealthy);
    const switchover = { to: { node: 'b1' }, replacesTerm: 1, force: true, ...byHand };
    bench.configure({ sites, switchover });
    bench.settle();
    bench.current = null;
    bench.claim();
    bench.settle();
    bench.updateRegistration('b1', { health: { ok: true, reason: null } });
    expect(bench.settle()).toEqual([]);
    bench.crash('b1');
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'a1', failures: [{ node: 'b1', count: 1 }] });
  });
});

describe('paused', () => {
  it('P55 nothing is elected while the leader’s host dies, the elector changes, the configuration is rewritten', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.configure({ sites, paused: byHand });
    bench.settle();
    bench.crash('a1');
    expect(bench.advance(hour)).toEqual([]);
    bench.memory = newElector;
    bench.configure({ sites, historySize: 5, paused: byHand });
    expect(bench.advance(hour)).toEqual([]);
    expect(bench.round().choice?.reason).toBe('paused by ops: maintenance');
    bench.join('a1', { incarnation: 'second' });
    expect(bench.advance(hour)).toEqual([]);
    bench.claim();
    bench.settle();
    bench.ready();
    expect(verbs(bench.advance(hour))).toEqual(['record']);
    expect(bench).toMatchObject({ node: 'a1', term: 1 });
  });

  it('P55 resumed, what is due is done at once', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.configure({ sites, paused: byHand });
    bench.settle();
    bench.crash('a1');
    bench.settle();
    bench.configure({ sites });
    bench.settle();
    expect(bench.node).toBe('b1');
  });

  it('P55 a failed takeover is tried again by the same node, backed off, also when its agent died of it', () => {
    for (const dies of [false, true]) {
      const bench = new Bench(['a1', 'b1'], { sites });
      bench.settle();
      bench.configure({ sites, paused: byHand });
      bench.claim();
      bench.settle();
      if (dies) bench.crash('a1');
      else bench.fail();
      expect(verbs(bench.settle())).toEqual(['write-elected']);
      expect(bench).toMatchObject({ node: 'a1', term: 1 });
      expect(bench.advance(9_999)).toEqual([]);
      expect(verbs(bench.advance(1))).toContain('write-elected');
      expect(bench).toMatchObject({
        node: 'a1',
        term: 2,
        reason: 'retry while paused by ops: maintenance',
      });
      expect(bench.records).toMatchObject([{ term: 1, outcome: 'FAILED', error: { phase: 'takeover' } }]);
      expect(bench.advance(hour)).toEqual([]);
    }
  });

  it('a READY that crosses its backoff clears it, and nothing is elected for it', () => {
    const bench = new Bench(['a1'], { paused: byHand });
    bench.elected = versioned(decided({ node: 'a1', term: 1, failures: [failure('a1')] }), 1);
    bench.current = claim('a1', { term: 1 });
    expect(verbs(bench.settle())).toEqual(['read-clock', 'record', 'write-elected']);
    expect(bench.elected.value).toMatchObject({ node: 'a1', term: 1, failures: [] });
  });
});

describe('limits', () => {
  const override = (ms: number) => ({ priority: 300, until: instant(ms), ...byHand });

  it('P53 an override ends by itself while electors change, is cleared once, and leadership goes back', () => {
    const bench = new Bench(['a1', 'b1'], {
      sites: { ...sites, b: { priority: 50, override: override(2 * hour) } },
    });
    bench.lead();
    expect(bench.node).toBe('b1');
    for (let turn = 0; turn < 2; turn += 1) {
      bench.advance(hour - 1);
      bench.memory = newElector;
    }
    expect(bench.node).toBe('b1');
    const done = bench.advance(2);
    expect(bench.node).toBe('a1');
    expect(bench.reason).toContain('the priority of site b fell from 300 to 50');
    expect(verbs(done).filter((verb) => verb === 'change-sites')).toHaveLength(1);
    expect(bench.lastConfig.sites.b?.override).toBeNull();
    expect(bench.advance(hour).filter(({ do: verb }) => verb === 'change-sites')).toEqual([]);
  });

  it('P53 a lasting override applies again when a temporary one in front of it ends', () => {
    const lasting = { priority: 50, until: null, ...byHand };
    const temporary = { priority: 1000, until: instant(hour), ...byHand, suspended: [lasting] };
    const a = { priority: 75 };
    const bench = led(['a1', 'b1'], { sites: { a, b: { override: lasting } } });
    bench.configure({ sites: { a, b: { override: temporary } } });
    bench.advance(hour / 2);
    expect(bench.node).toBe('b1');
    bench.advance(hour / 2);
    expect(bench.lastConfig.sites.b?.override).toEqual(lasting);
    bench.advance(hour / 2);
    expect(bench.node).toBe('a1');
    expect(bench.reason).toContain('the priority of site b fell from 1000 to 50');
  });

  it('P53 a site whose priority is lowered, not 0, leads where nobody else could', () => {
    const lowered = { priority: 1, until: instant(hour), ...byHand };
    const bench = led(['a1', 'b1'], { sites });
    bench.configure({ sites: { ...sites, a: { priority: 100, override: lowered } } });
    bench.settle();
    expect(bench.node).toBe('b1');
    bench.crash('b1');
    bench.settle();
    expect(bench.node).toBe('a1');
  });

  it('electing does not wait for the clearing of an override', () => {
    const bench = new Bench(['a1'], { sites: { b: { override: override(-1) } } });
    bench.clock = { epochMs: bench.epochMs, atMs: 0 };
    expect(verbs(bench.round().actions)).toEqual(['write-elected']);
  });

  it('a switchover is carried out at its time, by a clock that was read for it', () => {
    const bench = led(['a1', 'b1'], { sites });
    const switchover = { to: { site: 'b' }, replacesTerm: 1, notBefore: instant(hour), ...byHand };
    bench.configure({ sites, switchover });
    bench.advance(hour - 1);
    expect(bench.node).toBe('a1');
    expect(verbs(bench.advance(1))).toEqual(['read-clock', 'write-elected']);
    expect(bench.node).toBe('b1');
  });

  it('A7 a scheduled switchover whose term ends before its time is dropped, and that is recorded', () => {
    const bench = led(['a1', 'b1', 'c1'], { sites });
    const switchover = { to: { node: 'b1' }, replacesTerm: 1, notBefore: instant(hour), ...byHand };
    bench.configure({ sites, switchover });
    bench.advance(hour / 2);
    bench.crash('a1');
    const dropped = bench.settle().filter(({ do: verb }) => verb === 'drop-request');
    expect(dropped).toMatchObject([
      {
        what: `switchover to b1 not before ${instant(hour)}, requested by ops at ${instant(0)}, was missed`,
        reason: expect.stringContaining(
          'term 1 ended before the request was carried out; term 2: instead of a1',
        ),
      },
    ]);
    expect(bench.lastConfig.switchover).toBeNull();
    bench.lead();
    bench.advance(hour);
    expect([bench.node, bench.term]).toEqual(['c1', 2]);
  });

  it('A7 a scheduled switchover whose target comes back long after its time is dropped, not carried out late', () => {
    for (const lateMs of [59_999, 60_000]) {
      const bench = led(['a1', 'b1', 'c1'], { sites });
      const switchover = { to: { node: 'b1' }, replacesTerm: 1, notBefore: instant(hour), ...byHand };
      bench.configure({ sites, switchover });
      bench.updateRegistration('b1', unhealthy);
      bench.settle();
      const done = bench.advance(hour + lateMs);
      bench.updateRegistration('b1', { health: { ok: true, reason: null } });
      done.push(...bench.settle());
      const isDropped = lateMs === 60_000;
      expect(done.filter(({ do: verb }) => verb === 'drop-request')).toMatchObject(
        isDropped ? [{ reason: 'b1 was ineligible at the requested time and for 1m after it' }] : [],
      );
      expect([bench.node, bench.term]).toEqual(isDropped ? ['a1', 1] : ['b1', 2]);
    }
  });

  it('A7 so is one that was to happen at once; one that was carried out is not', () => {
    for (const ineligible of [true, false]) {
      const bench = led(['a1', 'b1', 'c1'], { sites });
      if (ineligible) bench.updateRegistration('c1', unhealthy);
      bench.configure({ sites, switchover: { to: { node: 'c1' }, replacesTerm: 1, ...byHand } });
      const done = bench.settle();
      // The next elector knows only what the znodes contain.
      bench.memory = newElector;
      bench.crash(ineligible ? 'a1' : 'c1');
      done.push(...bench.settle());
      bench.crash('b1');
      done.push(...bench.settle());
      expect(verbs(done).filter((verb) => verb === 'drop-request')).toHaveLength(ineligible ? 1 : 0);
    }
  });

  it('limits that are over make nobody read the clock', () => {
    const switchover = { to: { site: 'b' }, replacesTerm: 0, notBefore: instant(-hour), ...byHand };
    const bench = led(['a1', 'b1'], { sites, switchover });
    bench.advance(24 * hour);
    expect(bench.settle()).toEqual([]);
  });
});

describe('what cannot be read', () => {
  it('a configuration: the last one that could be is decided by, under the version that stands', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.config = unreadable(77);
    bench.crash('a1');
    expect(bench.settle()).toMatchObject([{ do: 'write-elected', configVersion: 77 }]);
    expect(bench.node).toBe('b1');
  });

  it.each<[string, (bench: Bench) => void]>([
    ['is malformed', (bench) => Object.assign(bench, { elected: unreadable(9) })],
    ['was deleted and created again', (bench) => Object.assign(bench, { elected: versioned(decided(), 0) })],
  ])('a decision that %s is restored around the leader, under a term never seen', (_, lose) => {
    const bench = led(['b1'], { sites });
    bench.crash('b1');
    bench.join('a1');
    bench.lead();
    bench.join('b1');
    lose(bench);
    expect(verbs(bench.settle())).toEqual(['write-elected']);
    expect(bench).toMatchObject({ node: 'a1', term: 4 });
    expect(bench.reason).toMatch(/^the decision in leader\/elected is lost \(.*\); \S/);
    expect(bench.records.map(({ term }) => term)).toEqual([1, 2]);
    bench.ready();
    expect(verbs(bench.settle())).toEqual(['record']);
  });

  it('a decision, and nobody leads: the best is elected, under a term never seen', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.current = null;
    bench.elected = unreadable(9);
    bench.history = versioned({ term: 5, fencingToken: null });
    expect(bench.settle()).toMatchObject([{ do: 'write-elected', record: null }]);
    expect(bench).toMatchObject({ node: 'a1', term: 7 });
    bench.history = unreadable();
    bench.elected = unreadable(30);
    bench.settle();
    expect(bench).toMatchObject({ node: 'a1', term: 31 });
  });

  it('the claim’s content: it is known by its session, given time to be repaired, and nobody else is elected', () => {
    const bench = led(['a1', 'b1'], { sites });
    if (bench.current === null) throw new Error('no claim');
    bench.current = { ...bench.current, ...unreadable(5) };
    expect(bench.settle()).toEqual([]);
    bench.ready();
    expect(bench.advance(hour)).toEqual([]);
    expect(bench.node).toBe('a1');
  });

  it('a registration: that node is not elected, the others are', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.members = bench.members.map((one) => (one.node === 'a1' ? { ...one, ...unreadable() } : one));
    bench.settle();
    expect(bench.node).toBe('b1');
  });

  it('the head of the history: it is written again', () => {
    const bench = new Bench(['a1']);
    bench.history = unreadable(4);
    bench.lead();
    expect(bench.records).toMatchObject([{ term: 1, outcome: 'READY' }]);
  });

  it('without a history, it elects all the same', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.history = null;
    bench.lead();
    bench.crash('a1');
    bench.settle();
    expect(bench.node).toBe('b1');
    expect(bench.records).toEqual([]);
  });
});

describe('a strategy that fails', () => {
  it('makes the elector give its seat up for this configuration, with the reason', () => {
    const strategy: ReadyStrategy = { name: 'plug-in', rank: () => [] };
    const bench = new Bench(['a1']);
    bench.settle();
    bench.strategy = strategy;
    expect(bench.round().actions).toEqual([
      {
        do: 'give-up-seat',
        reason: 'strategy plug-in broke its contract: it received a1 but ranked nobody',
        configVersion: bench.config.version,
      },
    ]);
  });
});

describe('the history', () => {
  it('records each leadership once, with what each phase took', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.nowMs = 2_000;
    bench.claim();
    bench.settle();
    bench.nowMs = 5_000;
    bench.ready();
    bench.settle();
    bench.memory = newElector;
    bench.settle();
    expect(bench.records).toEqual([
      {
        kind: 'transition',
        term: 1,
        fencingToken: '101',
        node: 'a1',
        site: 'a',
        previous: null,
        strategy: 'site-priority',
        reason: 'site a has priority 100, the node has priority 100',
        cause: 'first',
        electedAt: instant(0),
        claimedAt: instant(2_000),
        readyAt: instant(5_000),
        by: 'elector',
        resumes: null,
        release: null,
        phases: { releaseMs: null, claimMs: 2_000, takeoverMs: 3_000 },
        outcome: 'READY',
        error: null,
      },
    ]);
  });

  it('records how long the takeover took by the word of its node, for the token it names', () => {
    for (const [token, takeoverMs] of [
      ['101', 800],
      ['99', 3_000],
    ] as const) {
      const bench = new Bench(['a1', 'b1']);
      bench.settle();
      bench.claim();
      bench.nowMs = 3_000;
      bench.updateRegistration('a1', { lastTakeover: { token, durationMs: 800 } });
      bench.updateRegistration('b1', { lastTakeover: { token, durationMs: 5 } });
      bench.ready();
      bench.settle();
      expect(bench.records).toMatchObject([{ phases: { takeoverMs } }]);
    }
  });

  it('records when a takeover that did not end was claimed, and no end', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.advance(minute + 4_000);
    expect(bench.records).toMatchObject([
      {
        node: 'a1',
        outcome: 'FAILED',
        fencingToken: '101',
        claimedAt: instant(0),
        readyAt: null,
        phases: { claimMs: 0, takeoverMs: null },
        error: { phase: 'takeover', reason: expect.stringContaining('it was not READY within 64000 ms') },
      },
    ]);
  });

  it('records the same term again under another token: the leader came back', () => {
    const bench = led(['a1']);
    bench.current = null;
    bench.lead();
    expect(bench.records.map(({ term, fencingToken }) => [term, fencingToken])).toEqual([
      [1, '101'],
      [1, '102'],
    ]);
  });

  it('records since when a leader that came back had stopped, and why, and does not count from the decision', () => {
    const bench = led(['a1', 'b1']);
    bench.nowMs = 10 * minute;
    bench.current = null;
    const lastRelease = { token: '101', term: 1, result: 'ok', durationMs: 300, error: null };
    bench.updateRegistration('a1', { lastRelease });
    const leaseLoss = { token: '101', reason: 'the lease was not renewed', agoMs: 2_000 };
    bench.lead({ resumes: { ...leaseLoss, lostLease: true, earlierAgoMs: [] } });
    const endedAt = instant(10 * minute - 2_000);
    expect(bench.records.at(-1)).toMatchObject({
      term: 1,
      fencingToken: '102',
      previous: { node: 'a1', site: 'a' },
      cause: 'retry',
      reason: 'leads again under the same decision after it stopped: the lease was not renewed',
      electedAt: instant(0),
      resumes: { token: '101', reason: 'the lease was not renewed', endedAt },
      release: { node: 'a1', durationMs: 300, endedAt: instant(10 * minute - 1_700) },
      phases: { releaseMs: 300, claimMs: 2_000 },
    });
  });

  it('records no duration for a leader that came back if it is unknown when it had stopped', () => {
    const bench = led(['a1', 'b1']);
    bench.nowMs = 10 * minute;
    bench.current = null;
    bench.lead();
    expect(bench.records.at(-1)).toMatchObject({
      fencingToken: '102',
      cause: 'retry',
      resumes: { token: '101', reason: null, endedAt: null },
      release: null,
      phases: { releaseMs: null, claimMs: null },
    });
  });

  it('P47 records the release of the leader before, by its token', () => {
    const bench = led(['a1', 'b1'], { sites });
    bench.updateRegistration('a1', unhealthy);
    bench.settle();
    const lastRelease = { token: '101', term: 2, result: 'ok', durationMs: 700, error: null };
    bench.updateRegistration('a1', { lastRelease });
    bench.current = null;
    bench.lead();
    expect(bench.records.at(-1)).toMatchObject({
      node: 'b1',
      previous: { node: 'a1', site: 'a' },
      by: 'elector',
      release: { node: 'a1', result: 'ok', error: null, durationMs: 700, endedAt: expect.any(String) },
      phases: { releaseMs: 700 },
    });
  });

  it('P47 the leader that crashed is the previous one, though its claim is gone', () => {
    const bench = led(['a1', 'b1', 'c1'], { strategy: 'round-robin' });
    bench.crash('a1');
    bench.lead();
    expect(bench.node).toBe('b1');
    expect(bench.elected.value?.previous).toEqual({ node: 'a1', site: 'a' });
    bench.crash('b1');
    bench.join('b1', { incarnation: 'second' });
    bench.updateRegistration('b1', unhealthy);
    bench.settle();
    expect(bench.node).toBe('c1');
    expect(bench.elected.value?.previous).toEqual({ node: 'b1', site: 'b' });
  });

  it('a candidate that never was READY is not the previous one', () => {
    const bench = led(['a1', 'b1', 'c1'], { strategy: 'round-robin' });
    bench.crash('a1');
    bench.settle();
    bench.claim();
    bench.fail();
    bench.settle();
    expect(bench.node).toBe('c1');
    expect(bench.elected.value?.previous).toEqual({ node: 'a1', site: 'a' });
  });

  it('says READY of a leadership that is replaced before it was recorded', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.ready();
    bench.updateRegistration('a1', unhealthy);
    bench.settle();
    expect(bench.records).toMatchObject([{ term: 1, outcome: 'READY', error: null, fencingToken: '101' }]);
  });

  it('says NOBODY of a time without anybody', () => {
    const bench = led(['a1']);
    bench.crash('a1');
    bench.settle();
    bench.join('a1', { incarnation: 'second' });
    bench.settle();
    expect(bench.records.map(({ term, outcome }) => [term, outcome])).toEqual([
      [1, 'READY'],
      [2, 'NOBODY'],
    ]);
  });
});

describe('a group that loses and finds nodes', () => {
  it('goes on from what the znodes say, whichever node elects (P31)', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    const stages = [() => bench.settle(), () => bench.claim(), () => bench.ready()];
    for (const stage of stages) {
      stage();
      bench.memory = newElector;
      bench.settle();
      expect(bench).toMatchObject({ node: 'a1', term: 1 });
    }
  });

  it('a claim of a session that nobody is registered with is held by whom it names', () => {
    const bench = new Bench(['a1']);
    bench.current = claim('old', { owner: sessionOf('old') });
    bench.advance(34_000);
    expect(bench.alarms[0]).toContain('old has not released leadership');
  });
});
