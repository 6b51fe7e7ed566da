import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { Choice, ChoiceInput } from '../../src/core/choice-input.js';
import { RuleFault } from '../../src/core/ranking.js';
import type { switchoverSchema } from '../../src/model/group-config.js';
import type { Registration } from '../../src/model/registration.js';
import type { Ranked } from '../../src/model/strategy.js';
import type { ReadyStrategy } from '../../strategies/index.js';
import {
  ask,
  byHand,
  claim,
  config,
  decided,
  epoch0Ms,
  failure,
  instant,
  member,
  members,
  ordinary,
  unhealthy,
  unreadable,
} from './builders.js';

const sites = { a: { priority: 100 }, b: { priority: 50 }, c: { priority: 10 } };
const hour = 3_600_000;

function summary({ node, changes, cause, reason }: Choice) {
  return { node, changes, cause, reason };
}

/** Elects while b1 leads, although a1 would be better. */
function withBetter(change: Partial<ChoiceInput> & { settings?: Parameters<typeof config>[0] } = {}): Choice {
  const { settings, ...rest } = change;
  return ask({
    members: members('a1', 'b1'),
    config: config({ sites, ...settings }),
    elected: decided({ node: 'b1', term: 2, cause: 'failure', priorities: [50, 100] }),
    ...rest,
  });
}

describe('an election', () => {
  it('with nobody elected chooses the best, whatever the hold-down says: it only guards a leader there is (P49)', () => {
    const settings = config({ sites, failback: 'after:1h', minLeadership: '1h' });
    const choice = ask({
      members: members('b1', 'a1'),
      config: settings,
      eligibleForMs: () => 0,
      readyForMs: null,
    });
    expect(summary(choice)).toEqual({
      node: 'a1',
      changes: true,
      cause: 'first',
      reason: 'site a has priority 100, the node has priority 100',
    });
  });

  it('keeps the elected node when nobody is better, and says why it stands', () => {
    const choice = ask({ members: members('a1', 'a2'), elected: decided({ node: 'a2', cause: 'failure' }) });
    expect(summary(choice)).toEqual({
      node: 'a2',
      changes: false,
      cause: 'failure',
      reason: 'site a has priority 100, the node has priority 100',
    });
  });

  it.each<[string, Partial<Registration> | null, Parameters<typeof config>[0], string, string]>([
    ['is gone', null, {}, 'failure', 'no longer registered'],
    ['is unhealthy', unhealthy, {}, 'failure', 'it is unhealthy: disk full'],
    ['leaves', { draining: true }, {}, 'shutdown', 'it is shutting down'],
    ['was drained', {}, { drained: { a1: byHand } }, 'planned', 'it was drained by ops: maintenance'],
    [
      'is in a site switched off',
      {},
      { sites: { a: { drained: byHand } } },
      'planned',
      'site a was drained by ops: maintenance',
    ],
    [
      'was drained and leaves',
      { draining: true },
      { drained: { a1: byHand } },
      'planned',
      'it is shutting down, it was drained by ops: maintenance',
    ],
  ])('replaces an elected node that %s, at once', (_, registration, settings, cause, why) => {
    const others = members('b1', 'b2');
    const choice = ask({
      members: registration === null ? others : [member('a1', registration), ...others],
      config: config(settings),
      elected: decided({ node: 'a1' }),
      current: claim('a1'),
    });
    expect(summary(choice)).toEqual({
      node: 'b1',
      changes: true,
      cause,
      reason: `instead of a1 (${why}): site b has priority 100, the node has priority 100`,
    });
  });

  it('P29 replaces a candidate whose registration is gone while its claim is still seen', () => {
    const choice = ask({
      members: members('b1'),
      elected: decided({ node: 'a1' }),
      current: claim('a1', { status: 'PROGRESS' }),
    });
    expect(choice).toMatchObject({ node: 'b1', changes: true });
  });

  it('P35 gives every node a place or a reason', () => {
    const choice = ask({
      members: [member('a1', unhealthy), member('a2'), member('b1', { draining: true }), member('b2')],
      failures: [failure('b2')],
    });
    expect(choice.ranking.map(({ node }) => node)).toEqual(['a2']);
    expect(
      choice.ineligible.map(({ node, site, ineligibleReasons }) => [
        node,
        site,
        ineligibleReasons.map(({ kind }) => kind),
      ]),
    ).toEqual([
      ['a1', 'a', ['unhealthy']],
      ['b1', 'b', ['leaving']],
      ['b2', 'b', ['backoff']],
    ]);
  });

  it('round-robin goes on after the last node that was READY, past a candidate that failed', () => {
    const choice = ask({
      members: members('a1', 'b1', 'c1'),
      config: config({ strategy: 'round-robin' }),
      elected: decided({ node: 'b1', previous: { node: 'a1', site: 'a' } }),
      previous: { node: 'a1', site: 'a' },
      failures: [failure('b1')],
      electedFailed: true,
    });
    expect(choice).toMatchObject({ node: 'c1', changes: true, cause: 'failure' });
    expect(choice.reason).toContain('number 1 in turn after a1');
  });
});

describe('nobody fit', () => {
  const leaving = [member('a1', { draining: true })];
  const elected = decided({ node: 'a1', term: 4 });

  it('says that no node is registered', () => {
    expect(summary(ask({ members: [], elected }))).toEqual({
      node: null,
      changes: true,
      cause: 'nobody',
      reason: 'no node is registered',
    });
  });

  it('P35 names the reason of every node', () => {
    const choice = ask({
      members: [member('a1', unhealthy), ...members('b1')],
      config: config({ drained: { b1: byHand } }),
    });
    expect(choice.reason).toBe(
      'no node is eligible: a1: it is unhealthy: disk full; b1: it was drained by ops: maintenance',
    );
  });

  it('is decided once', () => {
    expect(ask({ members: leaving, elected: decided({ node: null, term: 5 }) }).changes).toBe(false);
  });

  it.each<[string, Partial<Registration>, Parameters<typeof config>[0]]>([
    ['leaves', { draining: true }, {}],
    ['is unhealthy', unhealthy, {}],
    ['was drained', {}, { drained: { a1: byHand } }],
    ['is in a site switched off', {}, { sites: { a: { drained: byHand } } }],
    ['is in a site of priority 0', {}, { sites: { a: { priority: 0 } } }],
  ])('a READY leader that %s is replaced, even without an alternative', (_, registration, settings) => {
    const choice = ask({
      members: [member('a1', registration)],
      config: config(settings),
      elected,
      current: claim('a1'),
    });
    expect(choice).toMatchObject({ node: null, changes: true });
  });

  it('a READY leader stays while only a malformed registration speaks against it', () => {
    const malformed = { ...member('a1'), ...unreadable() };
    const choice = ask({ members: [malformed], elected, current: claim('a1') });
    expect(summary(choice)).toEqual({
      node: 'a1',
      changes: false,
      cause: 'nobody',
      reason: 'it leads, and no other node is eligible: its registration is malformed: invalid JSON',
    });
    expect(ask({ members: [malformed, ...members('b1')], elected, current: claim('a1') }).node).toBe('b1');
    expect(
      ask({ members: [malformed], elected, current: claim('a1', { status: 'PROGRESS' }) }).node,
    ).toBeNull();
  });
});

describe('everyone in backoff', () => {
  const older = failure('a1', { failedAt: instant(-9_000), until: instant(hour) });
  const newer = failure('b1', { failedAt: instant(-4_000), until: instant(hour) });
  const inBackoff = (change: Partial<ChoiceInput> = {}) =>
    ask({
      members: members('a1', 'b1'),
      failures: [newer, older],
      elected: decided({ node: 'b1' }),
      ...change,
    });

  it('waits for the base time after the failure that is longest ago', () => {
    expect(summary(inBackoff({ electedFailed: true }))).toEqual({
      node: null,
      changes: true,
      cause: 'nobody',
      reason: 'every eligible node has failed; a1, which failed longest ago, will be retried in 1s',
    });
    expect(inBackoff({ elected: decided({ node: null }) }).changes).toBe(false);
  });

  it('then tries that node, and lifts only its backoff', () => {
    const choice = inBackoff({ epochMs: epoch0Ms + 1000, elected: decided({ node: null }) });
    expect(choice).toMatchObject({ node: 'a1', changes: true, cause: 'retry' });
    expect(choice.failures).toEqual([newer, { ...older, until: null }]);
  });

  it('overrides neither a person nor bad health nor leaving', () => {
    const late = { epochMs: epoch0Ms + 1000, elected: decided({ node: null }) };
    expect(inBackoff({ ...late, config: config({ drained: { a1: byHand, b1: byHand } }) }).node).toBeNull();
    const [b1] = members('b1');
    for (const change of [unhealthy, { draining: true }, { priority: 0 }]) {
      const choice = inBackoff({
        ...late,
        members: [member('a1', change), ...(b1 === undefined ? [] : [b1])],
      });
      expect(choice.node, JSON.stringify(change)).toBeNull();
      expect(choice.reason).toContain('b1, which failed longest ago, will be retried in 5s');
    }
  });
});

describe('a better node than the leader', () => {
  it('P48 takes over by itself after the hold, with failback auto', () => {
    const eligibleForMs = () => 4_000;
    const early = withBetter({ eligibleForMs });
    expect(summary(early)).toEqual({
      node: 'b1',
      changes: false,
      cause: 'failure',
      reason:
        'site b has priority 50, the node has priority 100; a1 would be better (site a has priority 100, the node has priority 100), and takes over in 1s if it stays eligible',
    });
    expect(early.recheckInMs).toBe(1_000);
    expect(summary(withBetter({ eligibleForMs: () => 5_000 }))).toEqual({
      node: 'a1',
      changes: true,
      cause: 'preference',
      reason: 'better than b1: site a has priority 100, the node has priority 100',
    });
  });

  it('P48 never takes over by itself with failback manual, and is reported as preferred', () => {
    const choice = withBetter({ settings: { failback: 'manual' } });
    expect(choice).toMatchObject({ node: 'b1', changes: false, recheckInMs: null });
    expect(choice.reason).toContain('a1 would be better');
    expect(choice.reason).toContain('failback is manual');
  });

  it.each([
    [599_999, 'b1'],
    [600_000, 'a1'],
  ])('with after:10m, fit for %d ms, leaves it to %s', (eligibleForMs, node) => {
    expect(withBetter({ settings: { failback: 'after:10m' }, eligibleForMs: () => eligibleForMs }).node).toBe(
      node,
    );
  });

  it.each([
    [59_999, 0, 'b1', 5_000],
    [59_999, 5_000, 'b1', 1],
    [60_000, 5_000, 'a1', null],
  ])(
    'with minLeadership, READY for %d ms and fit for %d ms, leaves it to %s',
    (readyForMs, eligibleForMs, node, recheckInMs) => {
      const choice = withBetter({
        settings: { minLeadership: '1m' },
        readyForMs,
        eligibleForMs: () => eligibleForMs,
      });
      expect(choice).toMatchObject({ node, recheckInMs });
    },
  );

  it('does not interrupt a takeover under way: it waits for its READY', () => {
    const choice = withBetter({ readyForMs: null });
    expect(choice).toMatchObject({ node: 'b1', changes: false, recheckInMs: null });
    expect(choice.reason).toContain('waits until b1 is READY or has failed');
  });

  it('whose takeover failed takes over by itself ever more rarely; another that is better goes before it', () => {
    const takenBy = (count: number, eligibleForMs: number, failedMs = -1e9) => {
      const failures = [failure('a1', { count, until: null, failedAt: instant(failedMs) })];
      return withBetter({ failures, eligibleForMs: () => eligibleForMs }).node;
    };
    const minute = 60_000;
    // The elector does not observe a node in backoff. So the node may have been eligible for a long time as
    // far as the elector knows.
    expect([takenBy(1, 1e9, 1 - 10 * minute), takenBy(1, 1e9, -10 * minute)]).toEqual(['b1', 'a1']);
    expect([takenBy(1, 10 * minute - 1), takenBy(1, 10 * minute)]).toEqual(['b1', 'a1']);
    expect([takenBy(3, 40 * minute - 1), takenBy(3, 40 * minute)]).toEqual(['b1', 'a1']);
    expect(takenBy(1e6, Number.MAX_SAFE_INTEGER)).toBe('a1');
    const other = { members: members('a1', 'a2', 'b1'), failures: [failure('a1', { until: null })] };
    expect(withBetter({ ...other, eligibleForMs: () => 5_000 }).node).toBe('a2');
    const lowered = { ...sites, b: { priority: 40 } };
    expect(withBetter({ ...other, settings: { sites: lowered } }).node).toBe('a2');
  });

  it('of the same grade never takes over', () => {
    const choice = ask({
      members: members('a1', 'a2'),
      elected: decided({ node: 'a2', priorities: [100, 100] }),
    });
    expect(choice.changes).toBe(false);
  });

  it.each(['auto', 'manual', 'after:10m'])(
    'P56 takes over at once when a person lowers the leader’s site, with failback %s',
    (failback) => {
      const choice = withBetter({
        settings: { failback, minLeadership: '1h', sites: { ...sites, b: { priority: 40 } } },
        eligibleForMs: () => 0,
        readyForMs: 0,
      });
      expect(summary(choice)).toEqual({
        node: 'a1',
        changes: true,
        cause: 'planned',
        reason:
          'the priority of site b fell from 50 to 40; site a has priority 100, the node has priority 100',
      });
    },
  );

  it('P56 takes over at once when the leader’s own priority is lowered, or its site’s for a time', () => {
    const manual = { failback: 'manual' };
    const [a1] = members('a1');
    const lowered = [...(a1 === undefined ? [] : [a1]), member('b1', { priority: 99 })];
    expect(withBetter({ settings: manual, members: lowered }).reason).toContain(
      'node b1 fell from 100 to 99',
    );
    const override = { priority: 5, until: instant(hour), ...byHand };
    const settings = { ...manual, sites: { ...sites, b: { priority: 50, override } } };
    expect(withBetter({ settings }).reason).toContain('site b fell from 50 to 5');
    expect(withBetter({ settings, epochMs: epoch0Ms + hour }).node).toBe('b1');
  });

  it('P56 a lower priority moves nothing while the leader is still the best', () => {
    const choice = withBetter({
      members: members('b1', 'c1'),
      settings: { sites: { ...sites, b: { priority: 20 } } },
    });
    expect(choice).toMatchObject({ node: 'b1', changes: false });
  });

  it('lets a person’s choice stand, until a person lowers it', () => {
    const elected = decided({ node: 'b1', priorities: [50, 100], requested: { by: 'ops', overridden: [] } });
    const choice = withBetter({ elected });
    expect(choice).toMatchObject({ node: 'b1', changes: false, recheckInMs: null });
    expect(choice.reason).toContain('but ops requested b1');
    expect(withBetter({ elected, settings: { sites: { ...sites, b: { priority: 40 } } } }).node).toBe('a1');
  });
});

describe('a switchover', () => {
  type Request = Partial<z.input<typeof switchoverSchema>>;
  const elected = decided({ node: 'a1', term: 7, priorities: [100, 100] });
  const request = (
    change: Request,
    rest: Partial<ChoiceInput> = {},
    settings: Parameters<typeof config>[0] = {},
  ) =>
    ask({
      members: members('a1', 'a2', 'b1', 'b2'),
      config: config({
        sites,
        switchover: { to: 'best-other', replacesTerm: 7, ...byHand, ...change },
        ...settings,
      }),
      elected,
      ...rest,
    });

  it.each<[string, Request['to'], string]>([
    ['a node', { node: 'b2' }, 'b2'],
    ['a site', { site: 'b' }, 'b1'],
    ['anybody else', 'best-other', 'a2'],
  ])('to %s is carried out', (_, to, node) => {
    const choice = request(to === undefined ? {} : { to });
    expect(summary(choice)).toEqual({
      node,
      changes: true,
      cause: 'planned',
      reason: 'switchover requested by ops: maintenance',
    });
    expect(choice.requested).toEqual({ by: 'ops', overridden: [] });
  });

  it.each<[string, Request]>([
    ['the elected node', { to: { node: 'a1' } }],
    ['the site that leads', { to: { site: 'a' } }],
    ['a node that nobody knows', { to: { node: 'zz' } }],
    ['a site without a node', { to: { site: 'zz' } }],
    ['another term', { to: { node: 'b1' }, replacesTerm: 6 }],
    ['a term to come', { to: { node: 'b1' }, replacesTerm: 8 }],
    ['a time to come', { to: { node: 'b1' }, notBefore: instant(1) }],
    ['a time to come, forced', { to: { node: 'b1' }, notBefore: instant(1), force: true }],
  ])('to %s changes nothing', (_, change) => {
    expect(request(change).changes).toBe(false);
  });

  it('is carried out when its time has come', () => {
    const change = { to: { node: 'b1' }, notBefore: instant(1000) };
    expect(request(change, { epochMs: epoch0Ms + 999 }).node).toBe('a1');
    expect(request(change, { epochMs: epoch0Ms + 1000 }).node).toBe('b1');
  });

  it('P36 to a node that is not eligible moves nothing while the leader stands', () => {
    const ineligible = [...members('a1'), member('b1', unhealthy)];
    expect(request({ to: { node: 'b1' } }, { members: ineligible }).changes).toBe(false);
  });

  it('P55 is carried out while the group is paused: a person requests it', () => {
    expect(request({ to: { node: 'b1' } }, {}, { paused: byHand }).node).toBe('b1');
  });

  it('forced, skips eligibility, clears the backoff, and keeps what it overrode', () => {
    const ineligible = [...members('a1'), member('b1', { ...unhealthy, priority: 0 })];
    const others = [failure('a2')];
    const choice = request(
      { to: { node: 'b1' }, force: true },
      { members: ineligible, failures: [failure('b1'), ...others] },
    );
    expect(choice).toMatchObject({ node: 'b1', changes: true, failures: others });
    expect(choice.reason).toBe('failover requested by ops: maintenance');
    expect(choice.requested).toEqual({ by: 'ops', overridden: ['unhealthy', 'priority-zero'], forced: true });
  });

  it('forced, does not name a node that cannot claim', () => {
    for (const b1 of [member('b1', { draining: true }), { ...member('b1'), ...unreadable() }]) {
      expect(request({ to: { node: 'b1' }, force: true }, { members: [...members('a1'), b1] }).changes).toBe(
        false,
      );
    }
    expect(request({ to: { node: 'zz' }, force: true }).changes).toBe(false);
  });

  it('forced, is not undone for what it overrode, but for anything else', () => {
    const requested = { by: 'ops', overridden: ['unhealthy'] };
    const now = (change: Partial<Registration>, rest: Partial<ChoiceInput> = {}) =>
      ask({
        members: [...members('a1'), member('b1', { ...unhealthy, ...change })],
        elected: decided({ node: 'b1', requested }),
        ...rest,
      });
    expect(now({}).changes).toBe(false);
    expect(now({ priority: 0 }).node).toBe('a1');
    expect(now({ draining: true }).node).toBe('a1');
    expect(now({}, { config: config({ drained: { b1: byHand } }) }).node).toBe('a1');
    expect(now({}, { electedFailed: true }).node).toBe('a1');
  });
});

describe('paused', () => {
  const paused = config({ paused: byHand });
  const elected = decided({ node: 'a1', term: 3, cause: 'failure' });

  it.each<[string, ChoiceInput['members']]>([
    ['is gone', members('b1')],
    ['is unhealthy', [member('a1', unhealthy), ...members('b1')]],
    ['leaves', [member('a1', { draining: true }), ...members('b1')]],
    ['is not the best', [member('a1', { priority: 1 }), ...members('b1')]],
  ])('P55 nothing moves when the elected node %s', (_, present) => {
    const choice = ask({ members: present, config: paused, elected });
    expect(summary(choice)).toEqual({
      node: 'a1',
      changes: false,
      cause: 'failure',
      reason: 'paused by ops: maintenance',
    });
  });

  it('P55 no node is elected where nobody was', () => {
    expect(ask({ members: members('a1'), config: paused }).changes).toBe(false);
  });

  it('a failed takeover is tried again by the same node, when its backoff is over, be it gone or not', () => {
    for (const present of [members('a1', 'b1'), members('b1'), [{ ...member('a1'), ...unreadable() }]]) {
      const failed = { members: present, config: paused, elected, electedFailed: true };
      expect(ask({ ...failed, failures: [failure('a1')] }).changes).toBe(false);
      expect(summary(ask({ ...failed, failures: [failure('a1', { until: null })] }))).toEqual({
        node: 'a1',
        changes: true,
        cause: 'retry',
        reason: 'retry while paused by ops: maintenance',
      });
    }
  });
});

describe('a strategy', () => {
  const answering = (answer: unknown): ReadyStrategy => ({
    name: 'plug-in',
    // The real return value of a plug-in can be of any type.
    rank: () => JSON.parse(JSON.stringify({ answer })).answer,
  });
  const good: Ranked = { node: 'a1', grade: 0, reason: 'why not' };
  const second: Ranked = { node: 'b1', grade: 1, reason: 'second' };
  const run = (strategy: ReadyStrategy) => ask({ members: members('b1', 'a1'), strategy });

  it('is given the eligible nodes in order of node ids, and the previous leader', () => {
    let given: unknown;
    const strategy: ReadyStrategy = {
      name: 'plug-in',
      rank: (input) => {
        given = input;
        return input.candidates.map(({ node }) => ({ ...good, node }));
      },
    };
    ask({
      members: [...members('b1', 'a1'), member('a0', unhealthy)],
      strategy,
      previous: { node: 'b1', site: 'b' },
    });
    const rest = { priority: 100, sitePriority: 100, scores: new Map(), tags: {} };
    const registered = { scores: new Map(), roundTripsMs: new Map() };
    expect(given).toEqual({
      candidates: [
        { node: 'a1', site: 'a', seat: 1, ...rest },
        { node: 'b1', site: 'b', seat: 0, ...rest },
      ],
      previous: { node: 'b1', site: 'b' },
      peers: ['a0', 'a1', 'b1'].map((node) => ({ ...registered, node, site: node.slice(0, 1) })),
      incumbent: null,
      term: 1,
      conditions: { ...ordinary, registered: 3, eligible: 2 },
    });
  });

  it('that keeps its contract is followed', () => {
    expect(run(answering([second, { ...good, grade: 1 }])).node).toBe('b1');
  });

  it.each<[string, unknown, RegExp]>([
    ['leaves one out', [good], /it received a1, b1 but ranked a1$/],
    ['ranks one twice', [good, good], /ranked a1, a1$/],
    ['ranks a stranger', [good, { ...second, node: 'zz' }], /ranked a1, zz$/],
    ['ranks nobody', [], /ranked nobody$/],
    ['joins two names', [{ ...good, node: 'a1,b1' }], /ranked a1,b1$/],
    ['gives the better a higher grade', [{ ...good, grade: 2 }, second], /grades must not decrease/],
    ['gives no reason', [{ ...good, reason: '' }, second], /0\.reason/],
    ['gives no grade', [{ ...good, grade: null }, second], /0\.grade/],
    ['returns nothing', undefined, /broke its contract/],
    ['returns a name', 'a1', /broke its contract/],
  ])('that %s breaks its contract', (_, answer, message) => {
    expect(() => run(answering(answer))).toThrow(RuleFault);
    expect(() => run(answering(answer))).toThrow(message);
  });

  it('that gives NaN as a grade breaks its contract: everyone would be better than everyone', () => {
    const strategy: ReadyStrategy = {
      name: 'plug-in',
      rank: ({ candidates }) =>
        candidates.map(({ node }) => ({ node, grade: Number.NaN, reason: 'why not' })),
    };
    expect(() => run(strategy)).toThrow(/broke its contract: .*grade/);
  });

  it('that throws is named with its cause', () => {
    const strategy: ReadyStrategy = {
      name: 'plug-in',
      rank: () => {
        throw new Error('no network');
      },
    };
    expect(() => run(strategy)).toThrow('strategy plug-in failed: Error: no network');
  });
});
