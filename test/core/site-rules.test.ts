import { describe, expect, it } from 'vitest';
import { countSites, judgeSites } from '../../src/core/failed-sites.js';
import { bestBySite, mayFollow } from '../../src/core/replacement.js';
import { electorRound, newElector } from '../../src/core/round.js';
import { constraints } from '../../strategies/constraints/index.js';
import { Bench } from './bench.js';
import {
  ask,
  byHand,
  config,
  decided,
  failure,
  instant,
  member,
  members,
  strategyOf,
  unreadable,
} from './builders.js';

const sites = { a: { priority: 100 }, b: { priority: 50 }, c: { priority: 10 } };
const minute = 60_000;

/** Returns a group that a1 leads. `settings` is part of its configuration. */
function led(nodes: readonly string[], settings: ConstructorParameters<typeof Bench>[1] = {}): Bench {
  const bench = new Bench(nodes, { sites, ...settings });
  bench.lead();
  return bench;
}

describe('sites that alone may lead', () => {
  const only = (strength: 'soft' | 'hard') => ({ only: { sites: ['b', 'c'], strength } });

  it('hard: nobody else is elected, and the refusal says why', () => {
    const nobody = ask({ members: members('a1'), config: config({ siteRules: only('hard') }) });
    expect(nobody).toMatchObject({ node: null, cause: 'nobody' });
    expect(nobody.ineligible).toMatchObject([
      {
        node: 'a1',
        site: 'a',
        ineligibleReasons: [
          { kind: 'site-not-allowed', reason: 'site a may not lead: the site rule “only” allows b, c' },
        ],
      },
    ]);
  });

  it('soft: the others lead where nobody of those sites can', () => {
    const settings = config({ sites, siteRules: only('soft') });
    expect(ask({ members: members('a1', 'c1', 'b1'), config: settings })).toMatchObject({ node: 'b1' });
    const last = ask({ members: members('a1'), config: settings });
    expect(last.node).toBe('a1');
    expect(last.reason).toBe(
      'site a has priority 100, the node has priority 100, but site a may not lead: the site rule “only” allows b, c',
    );
  });

  it('soft: leadership returns to them as the failback policy has it', () => {
    const bench = led(['a1'], { siteRules: only('soft') });
    bench.join('c1');
    bench.advance(4_999);
    expect(bench.node).toBe('a1');
    bench.advance(1);
    expect(bench.node).toBe('c1');
  });
});

describe('after a failure, another site', () => {
  const rule = (strength: 'soft' | 'hard') => ({
    siteRules: { afterFailure: { from: 'another-site' as const, strength } },
    failback: 'manual',
  });

  it('a leader that failed is replaced from there, although its own site has the better node', () => {
    const bench = led(['a1', 'a2', 'b1'], rule('soft'));
    bench.crash('a1');
    bench.lead();
    expect(bench.node).toBe('b1');
    expect(bench.reason).toBe(
      'instead of a1 (no longer registered): a leader that failed in site a must be replaced from another site; ' +
        'site b has priority 50, the node has priority 100',
    );
  });

  it('a candidate that failed, too', () => {
    const bench = new Bench(['a1', 'a2', 'b1'], { sites, ...rule('soft') });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.fail();
    bench.settle();
    expect(bench.node).toBe('b1');
  });

  it('one that leaves, or that people move, is replaced as ever', () => {
    const leaving = led(['a1', 'a2', 'b1'], rule('hard'));
    leaving.updateRegistration('a1', { draining: true });
    leaving.settle();
    expect(leaving.node).toBe('a2');
    const drained = led(['a1', 'a2', 'b1'], rule('hard'));
    drained.configure({ sites, ...rule('hard'), drained: { a1: byHand } });
    drained.settle();
    expect(drained.node).toBe('a2');
  });

  it('soft: from its own site where no other site has an eligible node', () => {
    const bench = led(['a1', 'a2'], rule('soft'));
    bench.crash('a1');
    bench.lead();
    expect(bench.node).toBe('a2');
    expect(bench.reason).toContain('but no other site has an eligible node');
  });

  it('hard: by no node until another site has one, whichever node elects meanwhile', () => {
    const bench = led(['a1', 'a2'], rule('hard'));
    bench.crash('a1');
    bench.settle();
    expect(bench).toMatchObject({
      node: null,
      reason:
        'a leader that failed in site a must be replaced from another site, and no other site has an eligible node',
    });
    bench.memory = newElector;
    bench.join('a3');
    bench.advance(60 * minute);
    expect(bench.node).toBeNull();
    bench.join('b1');
    bench.lead();
    expect(bench).toMatchObject({ node: 'b1', term: 3 });
    expect(bench.elected.value?.failedSite).toBe('a');
  });

  it('hard: also when nobody at all was eligible in between', () => {
    const bench = led(['a1'], rule('hard'));
    bench.crash('a1');
    bench.settle();
    bench.join('a2');
    bench.settle();
    expect(bench.node).toBeNull();
  });

  it('hard: a person may still say otherwise', () => {
    const bench = led(['a1', 'a2'], rule('hard'));
    bench.crash('a1');
    bench.settle();
    const switchover = { to: { node: 'a2' }, replacesTerm: bench.term, ...byHand };
    bench.configure({ sites, ...rule('hard'), switchover });
    bench.settle();
    expect(bench.node).toBe('a2');
    bench.lead();
    expect(bench.elected.value?.failedSite).toBeNull();
  });

  it('hard: nobody of its own site is tried again because all have failed', () => {
    const choice = ask({
      members: members('a1', 'a2'),
      config: config({ sites, ...rule('hard') }),
      elected: decided({ node: null, term: 4, failedSite: 'a', previous: { node: 'a1', site: 'a' } }),
      failures: [failure('a1'), failure('a2')],
    });
    expect(choice).toMatchObject({ node: null, changes: false });
  });
});

describe('the rule about the site of a successor', () => {
  const settings = (from: 'any-site' | 'another-site', strength: 'soft' | 'hard') =>
    config({ siteRules: { afterFailure: { from, strength } } });

  it.each([
    ['any-site', 'hard', 'a', 'a', true],
    ['another-site', 'soft', 'a', 'a', true],
    ['another-site', 'hard', 'a', 'a', false],
    ['another-site', 'hard', 'b', 'a', true],
    ['another-site', 'hard', 'a', null, true],
    ['another-site', 'hard', null, null, true],
  ] as const)(
    '%s, %s: a node of site %s may follow a failure in %s: %s',
    (from, strength, site, failed, may) => {
      expect(mayFollow(site, failed, settings(from, strength))).toBe(may);
    },
  );

  const a2 = { node: 'a2', grade: 0, reason: 'first' };
  const b1 = { node: 'b1', grade: 1, reason: 'second' };
  const nodes = members('a2', 'b1');

  it('has no effect if any site may follow, or if no leader has failed', () => {
    const best = { best: a2, why: null };
    expect(bestBySite([a2, b1], 'a', nodes, settings('any-site', 'hard'))).toEqual(best);
    expect(bestBySite([a2, b1], null, nodes, settings('another-site', 'hard'))).toEqual(best);
    expect(bestBySite([a2, b1], null, [], settings('another-site', 'hard'))).toEqual(best);
  });

  it('is not given as a reason if the best node is in another site anyway', () => {
    const best = { best: b1, why: null };
    expect(bestBySite([b1, a2], 'a', nodes, settings('another-site', 'hard'))).toEqual(best);
  });
});

describe('the count of a site’s nodes', () => {
  const hour = 60 * minute;
  const counts = (site: Parameters<typeof config>[0], nodes = members('a1')) => {
    const known = { members: nodes, config: config(site), nowMs: 0 };
    return countSites(known, new Map());
  };
  const twoOf = (...names: string[]) =>
    ({ sites: Object.fromEntries(names.map((name) => [name, { minNodes: 2 }])) }) as const;

  it('is kept for each site that has a rule, and for no other', () => {
    expect(counts({ sites: { a: { minNodes: 2 }, b: { priority: 50 } } })).toEqual(
      new Map([['a', { isEnough: false, failedAt: null, sinceMs: 0 }]]),
    );
  });

  it('does not include a node whose registration is malformed', () => {
    const nodes = [member('a1'), { ...member('a2'), ...unreadable() }];
    expect(counts(twoOf('a'), nodes).get('a')).toMatchObject({ isEnough: false });
  });

  it('starts over when the site is marked failed at another time', () => {
    const failedAt = (at: string) => ({ byRule: true, ...byHand, at });
    const counted = (at: string, nowMs: number, before: ReturnType<typeof countSites>) => {
      const settings = config({ sites: { a: { minNodes: 2, failed: failedAt(at) } } });
      return countSites({ members: members('a1', 'a2'), config: settings, nowMs }, before);
    };
    const first = counted(instant(0), 10, new Map());
    expect(counted(instant(0), 20, first).get('a')).toMatchObject({ failedAt: instant(0), sinceMs: 10 });
    expect(counted(instant(5), 20, first).get('a')).toMatchObject({ failedAt: instant(5), sinceMs: 20 });
  });

  it('leads to no verdict on a healthy site with enough nodes', () => {
    const known = { members: members('a1', 'a2'), config: config(twoOf('a')), nowMs: 0 };
    const judged = judgeSites({ ...known, nowMs: hour }, countSites(known, new Map()));
    expect(judged).toEqual({ verdicts: [], waitMs: null });
  });

  it('is judged again when the first of several waits is over', () => {
    const known = { members: members('a1'), config: config(twoOf('a', 'b')), nowMs: 0 };
    const first = countSites({ ...known, config: config(twoOf('a')) }, new Map());
    const both = countSites({ ...known, nowMs: 4_000 }, first);
    expect(judgeSites({ ...known, nowMs: 5_000 }, both)).toEqual({ verdicts: [], waitMs: 5_000 });
  });
});

describe('a site that has failed', () => {
  const failed = { byRule: false, ...byHand };

  it('by a person’s word: none of its nodes is elected, and its leader is replaced as one that failed', () => {
    const bench = led(['a1', 'a2', 'b1']);
    bench.configure({ sites: { ...sites, a: { priority: 100, failed } } });
    bench.settle();
    expect(bench.node).toBe('b1');
    expect(bench.elected.value).toMatchObject({ cause: 'failure', failedSite: 'a' });
    expect(bench.reason).toContain('site a was marked failed by ops: maintenance');
  });

  const counted = { ...sites, a: { priority: 100, minNodes: 2 } };
  const settings = { sites: counted, failback: 'after:1s' };

  it('by the rule: after it has had too few nodes for so long, and not before', () => {
    const bench = led(['a1', 'a2', 'b1'], settings);
    bench.crash('a2');
    bench.advance(9_999);
    expect(bench.node).toBe('a1');
    bench.advance(1);
    expect(bench.lastConfig.sites.a?.failed).toMatchObject({
      byRule: true,
      by: 'elector',
      reason: 'registered nodes: 1, required: 2',
    });
    expect(bench.node).toBe('b1');
  });

  it('by the rule: a node that comes and goes does not shorten or end the wait for its recovery', () => {
    const bench = led(['a1', 'a2', 'b1'], settings);
    bench.crash('a1');
    bench.lead();
    bench.advance(10_000);
    bench.handOver();
    expect(bench.node).toBe('b1');
    bench.join('a1');
    bench.advance(minute - 1);
    bench.crash('a1');
    bench.advance(1);
    bench.join('a1');
    bench.advance(minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.lastConfig.sites.a?.failed).toBeNull();
    bench.advance(1_000);
    expect(bench.node).toBe('a1');
  });

  it('by the rule: what one elector declared stands under the next', () => {
    const bench = led(['a1', 'b1'], settings);
    bench.advance(10_000);
    bench.handOver();
    bench.memory = newElector;
    bench.settle();
    bench.join('a2');
    bench.memory = newElector;
    bench.advance(minute - 1);
    expect(bench.lastConfig.sites.a?.failed).not.toBeNull();
    bench.advance(1);
    expect(bench.lastConfig.sites.a?.failed).toBeNull();
  });

  it('by the rule: the next elector, which looks now and again, counts nothing until it elects', () => {
    const bench = led(['a1', 'b1'], settings);
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
    const snapshot = { ...bench.snapshot, seat };
    bench.memory = electorRound({ ...situation, snapshot, memory: newElector }).memory;
    bench.nowMs += 11_000;
    bench.seat = seat.name;
    bench.advance(9_999);
    expect(bench.lastConfig.sites.a?.failed).toBeNull();
    bench.advance(1);
    expect(bench.lastConfig.sites.a?.failed).toMatchObject({ byRule: true });
  });

  it('by the rule: a node that has lost its seat counts again from the next one', () => {
    const bench = led(['a1', 'b1'], settings);
    bench.advance(9_000);
    bench.seat = 'a1-0000000007';
    bench.advance(9_999);
    expect(bench.lastConfig.sites.a?.failed).toBeNull();
  });

  it('by the rule: once a person has marked it healthy, it counts again', () => {
    const bench = led(['a1', 'b1'], settings);
    bench.advance(30_000);
    expect(bench.lastConfig.sites.a?.failed).toMatchObject({ byRule: true });
    bench.configure({ ...settings, sites: counted });
    bench.advance(9_999);
    expect(bench.lastConfig.sites.a?.failed).toBeNull();
    bench.advance(1);
    expect(bench.lastConfig.sites.a?.failed).toMatchObject({ byRule: true });
  });

  it('by a person’s word: no rule takes that back', () => {
    const bench = led(['a1', 'a2', 'b1'], { sites: { ...sites, a: { priority: 100, minNodes: 1, failed } } });
    bench.advance(60 * minute);
    expect(bench.lastConfig.sites.a?.failed).toEqual(failed);
    expect(bench.node).toBe('b1');
  });

  it('by the rule, soft: its nodes lead where no other can', () => {
    const soft = { ...settings, siteRules: { failed: { strength: 'soft' as const } } };
    const bench = led(['a1', 'b1'], soft);
    bench.advance(11_000);
    bench.handOver();
    expect(bench.node).toBe('b1');
    bench.crash('b1');
    bench.lead();
    expect(bench.node).toBe('a1');
  });

  it('whose minimum is taken away again is whole after the time for that', () => {
    const bench = led(['a1', 'b1'], settings);
    bench.advance(10_000);
    bench.configure({ ...settings, sites: { ...counted, a: { ...bench.lastConfig.sites.a, minNodes: 0 } } });
    bench.advance(minute);
    expect(bench.lastConfig.sites.a?.failed ?? null).toBeNull();
  });
});
