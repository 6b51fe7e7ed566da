import { describe, expect, it } from 'vitest';
import { electorRound, newElector } from '../../src/core/round.js';
import { constraints } from '../../strategies/constraints/index.js';
import { Bench } from './bench.js';
import { ask, byHand, config, decided, failure, members, strategyOf } from './builders.js';

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
