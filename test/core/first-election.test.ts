/** The first election of a group may wait for nodes that are still starting. No other election waits. */
import { describe, expect, it } from 'vitest';
import { nowhereElse } from '../../src/core/elsewhere.js';
import { isFirst } from '../../src/core/first-election.js';
import { Bench } from './bench.js';
import { byHand, claim, decided, unhealthy } from './builders.js';

const second = 1000;
const three = { firstElection: { nodes: 3 } };

describe('the first election', () => {
  it('waits for nobody where the group does not say so', () => {
    const bench = new Bench(['a1']);
    bench.settle();
    expect(bench.node).toBe('a1');
  });

  it('waits until enough nodes are eligible, and then elects the best of them', () => {
    const bench = new Bench(['b1'], { ...three, sites: { c: { priority: 200 } } });
    bench.advance(second);
    expect(bench.node).toBeNull();
    expect(bench.term).toBe(0);
    bench.join('a1', unhealthy);
    bench.join('c1');
    bench.advance(second);
    expect(bench.node).toBeNull();
    bench.updateRegistration('a1', { health: { ok: true, reason: null } });
    bench.settle();
    expect(bench.node).toBe('c1');
    expect(bench.elected.value).toMatchObject({ cause: 'first', term: 1 });
  });

  it('says what it waits for, and how long', () => {
    const bench = new Bench(['b1'], three);
    bench.advance(10 * second);
    const { choice, recheckInMs } = bench.round();
    expect(choice?.reason).toBe('the first election waits for 3 eligible nodes: 1 so far, at most 20s more');
    expect(choice?.changes).toBe(false);
    expect(recheckInMs).toBe(20 * second);
  });

  it('waits no longer than it may', () => {
    const bench = new Bench(['b1'], { firstElection: { nodes: 3, within: '2m' } });
    bench.advance(120 * second - 1);
    expect(bench.node).toBeNull();
    bench.advance(1);
    expect(bench.node).toBe('b1');
  });

  it('counts from when the elector looked first, also where nobody was eligible then', () => {
    const bench = new Bench([], three);
    bench.join('b1', unhealthy);
    bench.settle();
    for (const _ of [1, 2, 3]) {
      bench.nowMs += 10 * second;
      bench.settle();
    }
    bench.updateRegistration('b1', { health: { ok: true, reason: null } });
    bench.settle();
    expect(bench.node).toBe('b1');
  });

  it('lets an elector that starts late wait as long as any other', () => {
    const bench = new Bench(['b1'], three);
    bench.nowMs = 300 * second;
    bench.advance(30 * second - 1);
    expect(bench.node).toBeNull();
    bench.advance(1);
    expect(bench.node).toBe('b1');
  });

  it('does not count the time before it had something to wait for', () => {
    const bench = new Bench(['b1'], { paused: byHand });
    for (const _ of [1, 2, 3]) {
      bench.settle();
      bench.nowMs += 20 * second;
    }
    bench.configure(three);
    bench.advance(30 * second - 1);
    expect(bench.node).toBeNull();
    bench.advance(1);
    expect(bench.node).toBe('b1');
  });

  it('with a strategy that compares scores waits for a report, too', () => {
    const bench = new Bench(['a1', 'b1'], { strategy: 'request' });
    bench.settle();
    expect(bench.round().choice?.reason).toBe(
      'the first election waits for 1 eligible node with scores: 0 so far, at most 30s more',
    );
    bench.measure('a1', { requests: 5 });
    bench.settle();
    expect(bench.node).toBe('a1');
  });

  it('is held without reports when the time is over', () => {
    const bench = new Bench(['a1', 'b1'], { strategy: 'request' });
    bench.advance(30 * second);
    expect(bench.node).toBe('b1');
    expect(bench.reason).toBe('it reports no requests');
  });

  it('is held at once when a person requests a node', () => {
    const request = { to: { node: 'b1' }, replacesTerm: 0, ...byHand };
    const bench = new Bench(['b1'], { ...three, switchover: request });
    bench.settle();
    expect(bench.node).toBe('b1');
  });
});

describe('no later election waits', () => {
  it('after the leader crashed', () => {
    const bench = new Bench(['a1', 'b1', 'c1'], three);
    bench.lead();
    bench.crash('a1');
    bench.crash('b1');
    bench.settle();
    expect(bench.node).toBe('c1');
  });

  it('after nobody was eligible', () => {
    const bench = new Bench(['a1', 'b1', 'c1'], three);
    bench.lead();
    for (const node of ['a1', 'b1', 'c1']) bench.crash(node);
    bench.settle();
    expect(bench.node).toBeNull();
    bench.join('b1');
    bench.settle();
    expect(bench.node).toBe('b1');
  });

  it('where what was decided is lost, and somebody led', () => {
    const bench = new Bench(['b1'], three);
    bench.current = claim('b1', { term: 5 });
    bench.settle();
    expect(bench.node).toBe('b1');
    expect(bench.term).toBe(6);
  });
});

it('is not awaited if the group waits for no time', () => {
  const bench = new Bench(['a1'], { firstElection: { nodes: 3, within: '0s' } });
  bench.round();
  expect(bench.memory.firstLookMs).toBeNull();
});

describe('an election is the first', () => {
  const fresh = { elected: decided(), previous: null, elsewhere: nowhereElse };

  it('if no node has ever been elected, neither here nor in another slot', () => {
    expect(isFirst(fresh)).toBe(true);
  });

  it.each<[string, Partial<typeof fresh> | { previous: { node: string; site: string } }]>([
    ['a decision was made before', { elected: decided({ term: 1 }) }],
    ['a node is elected', { elected: decided({ node: 'a1' }) }],
    ['a node has been READY before', { previous: { node: 'a1', site: 'a' } }],
    ['another slot has had a leader', { elsewhere: { ...nowhereElse, isUntouched: false } }],
  ])('but not if %s', (_, change) => {
    expect(isFirst({ ...fresh, ...change })).toBe(false);
  });
});
