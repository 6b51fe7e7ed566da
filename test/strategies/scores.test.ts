/**
 * Strategies that compare the scores of nodes: the reasons that they give, and their behaviour when scores
 * are unknown.
 */

import { describe, expect, it } from 'vitest';
import { configProblems } from '../../src/model/read-config.js';
import type { Ranked } from '../../strategies/index.js';
import { builtInRules } from '../../strategies/index.js';
import { deployments, electionIn, inputOf, rankedBy } from './deployments.js';

const order = (ranking: readonly Ranked[]) => ranking.map(({ node }) => node).join(' ');
const grades = (ranking: readonly Ranked[]) => ranking.map(({ grade }) => grade).join(' ');
const reasons = (ranking: readonly Ranked[]) =>
  Object.fromEntries(ranking.map(({ node, reason }) => [node, reason]));

describe('history', () => {
  it('distinguishes positions of 64 bits that a number would not, and mixes both kinds', () => {
    const positions = { a1: 2n ** 62n, b1: 2n ** 62n + 1n, c1: 5, d1: 6n };
    const nodes = Object.entries(positions).map(([node, history]) => [node, { scores: { history } }]);
    const ranking = rankedBy('history', inputOf(Object.fromEntries(nodes)));
    expect(order(ranking)).toBe('b1 a1 d1 c1');
    expect(grades(ranking)).toBe('0 1 2 3');
    expect(ranking.map(({ score }) => score)).toEqual([undefined, undefined, 6, 5]);
    expect(ranking[0]?.reason).toBe('history = 4611686018427387905');
  });

  it('cuts positions of 64 bits into classes exactly', () => {
    const base = 2n ** 62n;
    const positions = { a1: base, b1: base + 9n, c1: base + 10n, d1: -1n, e1: -10n, f1: -11n };
    const nodes = Object.entries(positions).map(([node, history]) => [node, { scores: { history } }]);
    // 2^62 is 4 more than a multiple of 10.
    const ranking = rankedBy('history', inputOf(Object.fromEntries(nodes)), { width: 10 });
    expect(order(ranking)).toBe('c1 b1 a1 e1 d1 f1');
    expect(grades(ranking)).toBe('0 0 1 2 2 3');
  });

  it('takes a node that reports nothing last, and says so', () => {
    const nodes = { a1: { scores: { history: 0 } }, b1: {}, c1: { scores: { other: 7 } } };
    const ranking = rankedBy('history', inputOf(nodes));
    expect(order(ranking)).toBe('a1 c1 b1');
    expect(grades(ranking)).toBe('0 1 1');
    expect(ranking[1]?.reason).toBe('it reports no history');
  });

  it('looks at the configured score', () => {
    const nodes = { a1: { scores: { history: 9, zxid: 1 } }, b1: { scores: { zxid: 2 } } };
    expect(order(rankedBy('history', inputOf(nodes), { score: 'zxid' }))).toBe('b1 a1');
  });
});

describe('towards a node that leads', () => {
  const rates = (given: Record<string, number>) =>
    inputOf(
      Object.fromEntries(Object.entries(given).map(([node, requests]) => [node, { scores: { requests } }])),
    );

  it('others within the margin share its grade, and it comes first in it', () => {
    const input = { ...rates({ a1: 100, b1: 119, c1: 121, d1: 100, e1: 80 }), incumbent: 'a1' };
    const ranking = rankedBy('request', input);
    expect(order(ranking)).toBe('c1 a1 d1 b1 e1');
    expect(grades(ranking)).toBe('0 1 1 1 2');
    expect(reasons(ranking)).toEqual({
      a1: 'requests = 100',
      b1: 'requests = 119, better than the leader a1 by less than the margin of 20%',
      c1: 'requests = 121',
      d1: 'requests = 100',
      e1: 'requests = 80',
    });
  });

  it('a boundary between classes is no reason to leave it, a margin beyond it is', () => {
    const input = { ...rates({ a1: 29.9, b1: 30.1, c1: 37 }), incumbent: 'a1' };
    const ranking = rankedBy('request', input, { width: 10, margin: 5 });
    expect(order(ranking)).toBe('c1 a1 b1');
    expect(grades(ranking)).toBe('0 1 1');
    expect(ranking[2]?.reason).toBe(
      'requests = 30.1, in the class from 30 to below 40, better than the leader a1 by less than the margin of 5',
    );
  });

  it('within one class nothing is a reason to leave it', () => {
    const input = { ...rates({ a1: 30, b1: 39 }), incumbent: 'a1' };
    expect(grades(rankedBy('request', input, { width: 10, margin: 0 }))).toBe('0 0');
  });

  it('one that knows nothing of itself is left for one that does', () => {
    const input = { ...inputOf({ a1: {}, b1: { scores: { requests: 0 } } }), incumbent: 'a1' };
    expect(grades(rankedBy('request', input))).toBe('0 1');
  });
});

describe('round trips', () => {
  it('are explained with their parts', () => {
    const input = electionIn(deployments[1], [1, 1, 1]);
    expect(rankedBy('latency', input)[0]?.reason).toBe(
      'an average client is 30.93 ms away: quorum 9.88 ms + clients 21.05 ms',
    );
    expect(rankedBy('worst-case', input)[0]?.reason).toBe(
      'the farthest client is 63.14 ms away: quorum 9.88 ms + client at p1 53.26 ms',
    );
    expect(rankedBy('consensus', input)[0]?.reason).toBe('a quorum, 3 of 5, answers within 9.88 ms');
  });

  it('are taken as spread evenly where no node reports requests, or all report none', () => {
    const input = electionIn(deployments[1], [1, 1, 1]);
    const silent = { ...input, peers: input.peers.map((peer) => ({ ...peer, scores: new Map() })) };
    const idle = electionIn(deployments[1], [0, 0, 0]);
    // Two of the four nodes are in data centre D2, so the expected mean differs from that of three equal data
    // centres.
    for (const given of [silent, idle]) {
      const [best] = rankedBy('latency', given);
      expect(best?.score).toBeCloseTo(9.88 + (9.88 + 53.26) / 4, 6);
      expect(best?.reason).toContain(' (assumed evenly spread, because no node reports requests)');
    }
  });

  it('are weighed by the score for the load, of which one that reports none gets nothing', () => {
    const nodes = {
      a1: { scores: { hits: 1 }, roundTripsMs: { b1: 10, c1: 40 } },
      b1: { scores: { hits: 3 }, roundTripsMs: { c1: 20 } },
      c1: {},
    };
    const ranking = rankedBy('latency', inputOf(nodes), { load: 'hits' });
    expect(Object.fromEntries(ranking.map(({ node, score }) => [node, score]))).toEqual({
      a1: 10 + 7.5,
      b1: 10 + 2.5,
      c1: 20 + 25,
    });
  });

  it('that only the other end has measured count for both', () => {
    const there = { a1: { roundTripsMs: { b1: 8, c1: 6 } }, b1: { roundTripsMs: { c1: 2 } }, c1: {} };
    const ranking = rankedBy('consensus', inputOf(there));
    expect(ranking.map(({ node, score }) => `${node} ${score}`)).toEqual(['c1 2', 'b1 2', 'a1 6']);
  });

  it('that are not measured put nodes without them last, with the reason', () => {
    const nodes = {
      a1: { roundTripsMs: { b1: 9 } },
      b1: {},
      c1: {},
      d1: { roundTripsMs: { b1: 1, a1: 30 } },
    };
    const input = inputOf(nodes);
    const consensus = rankedBy('consensus', input);
    expect(order(consensus)).toBe('b1 d1 a1 c1');
    expect(reasons(consensus)).toMatchObject({
      b1: 'a quorum, 3 of 4, answers within 9 ms',
      c1: 'no quorum (3 of 4 nodes): known round trips reach only 1 of them, including the node itself',
    });
    const worst = rankedBy('worst-case', input);
    expect(order(worst)).toBe('b1 d1 a1 c1');
    expect(worst[0]?.reason).toBe(
      'the farthest client is 18 ms away: quorum 9 ms + client at a1 9 ms, with no known round trip to c1',
    );
  });

  it('that several nodes lack are counted, and one of those is named', () => {
    const nodes = { a1: { roundTripsMs: { b1: 9 } }, b1: {}, c1: {}, d1: {} };
    expect(rankedBy('worst-case', inputOf(nodes), { size: 3 })[0]?.reason).toBe(
      'the farthest client is 18 ms away: quorum 9 ms + client at a1 9 ms, with no known round trip to c1 and 1 more',
    );
  });

  it('without any of which to a client the latency is unknown', () => {
    const nodes = {
      a1: { roundTripsMs: { b1: 9 } },
      b1: {},
      c1: { scores: { requests: 1 } },
    };
    const ranking = rankedBy('latency', inputOf(nodes));
    expect(reasons(ranking)).toMatchObject({
      a1: 'its latency for clients is unknown, with no known round trip to c1',
      b1: 'its latency for clients is unknown, with no known round trip to c1',
    });
    expect(ranking.map(({ score }) => score)).toEqual([undefined, undefined, undefined]);
  });

  it('are ordered by how many are missing where no quorum is reached', () => {
    const nodes = { a1: {}, b1: { roundTripsMs: { c1: 1 } }, c1: {}, d1: {} };
    const ranking = rankedBy('consensus', inputOf(nodes));
    expect(ranking.map(({ node, grade }) => `${node} ${grade}`)).toEqual(['c1 0', 'b1 0', 'd1 1', 'a1 1']);
  });

  it('to nodes that are not registered do not count', () => {
    const nodes = { a1: { roundTripsMs: { a0: 1, b1: 9, c1: 2 } }, b1: {} };
    expect(rankedBy('worst-case', inputOf(nodes))[1]?.reason).toBe(
      'the farthest client is 18 ms away: quorum 9 ms + client at b1 9 ms',
    );
  });

  it('that are equally long name the first node as the farthest', () => {
    const nodes = { a1: { roundTripsMs: { b1: 9, c1: 9 } }, b1: {}, c1: {} };
    expect(reasons(rankedBy('worst-case', inputOf(nodes))).a1).toContain('client at b1 9 ms');
  });

  it('are weighed by loads however great', () => {
    const nodes = {
      a1: { scores: { requests: 1e308 }, roundTripsMs: { b1: 4 } },
      b1: { scores: { requests: 1e308 } },
    };
    expect(rankedBy('latency', inputOf(nodes))[0]?.score).toBe(6);
  });

  it.each(['latency', 'consensus', 'worst-case'])(
    'have a unit in the classes and margins of %s',
    (strategy) => {
      const trips = { a1: { roundTripsMs: { b1: 10, c1: 10 } }, b1: { roundTripsMs: { c1: 9 } }, c1: {} };
      const ranking = rankedBy(strategy, inputOf(trips, { incumbent: 'a1' }), { width: 1, margin: 30 });
      const why = reasons(ranking).b1;
      expect(why).toMatch(
        /, in the class from [\d.]+ to below [\d.]+ ms, better than the leader a1 by less than/,
      );
      expect(why).toMatch(/the margin of 30 ms$/);
      const shared = rankedBy(strategy, inputOf(trips, { incumbent: 'a1' }), { width: 1, margin: '90%' });
      expect(reasons(shared).b1).toMatch(/the margin of 90%$/);
    },
  );

  it('to one node that nobody reaches leave the order of the others as it is', () => {
    const input = electionIn(deployments[1], [1, 1, 1]);
    const lost = inputOf({
      ...Object.fromEntries(
        input.peers.map(({ node, scores, roundTripsMs }) => [
          node,
          { scores: Object.fromEntries(scores), roundTripsMs: Object.fromEntries(roundTripsMs) },
        ]),
      ),
      p6: {},
    });
    for (const strategy of ['latency', 'worst-case']) {
      expect(order(rankedBy(strategy, lost, { size: 5 }))).toBe(`${order(rankedBy(strategy, input))} p6`);
    }
  });

  it('to whose clients nothing goes need not be known', () => {
    const nodes = {
      a1: { scores: { requests: 1 }, roundTripsMs: { b1: 4 } },
      b1: { scores: { requests: 1 } },
      c1: { scores: { requests: 0 } },
    };
    expect(rankedBy('latency', inputOf(nodes))[0]?.reason).toBe(
      'an average client is 6 ms away: quorum 4 ms + clients 2 ms',
    );
  });
});

describe('the size of the group', () => {
  const trips = { p1: { roundTripsMs: { p2: 1, p3: 2, p4: 3 } }, p2: {}, p3: {}, p4: {} };
  const quorumOf = (rest: Parameters<typeof inputOf>[1], options = {}) =>
    rankedBy('consensus', inputOf(trips, rest), options).find(({ node }) => node === 'p1')?.reason;

  it('is who is registered, and the last leader where it has gone', () => {
    expect(quorumOf({})).toBe('a quorum, 3 of 4, answers within 2 ms');
    expect(quorumOf({ previous: { node: 'p5', site: 'a' } })).toBe('a quorum, 3 of 5, answers within 2 ms');
    // The previous leader hands over but remains registered, so it votes.
    expect(quorumOf({ previous: { node: 'p4', site: 'a' } })).toBe('a quorum, 3 of 4, answers within 2 ms');
  });

  it('may be said, since nobody knows of others that are down', () => {
    expect(quorumOf({}, { size: 7 })).toBe('a quorum, 4 of 7, answers within 3 ms');
    expect(quorumOf({}, { size: 1 })).toBe('a quorum, 1 of 1, answers within 0 ms');
  });
});

describe('rotating', () => {
  it('gives each term to another, in the order of ids, and moves no leader', () => {
    const input = inputOf({ a1: {}, b1: {}, c1: {} });
    const firsts = [3, 4, 5, 6].map((term) => rankedBy('rotating', { ...input, term }));
    expect(firsts.map(order)).toEqual(['a1 c1 b1', 'b1 c1 a1', 'c1 b1 a1', 'a1 c1 b1']);
    expect(firsts.every((ranking) => grades(ranking) === '0 0 0')).toBe(true);
    expect(firsts[1]?.map(({ score }) => score)).toEqual([1, 0, 0]);
    expect(firsts[1]?.map(({ reason }) => reason)).toEqual([
      'it is this node’s turn in term 4',
      'it is the turn of b1 in term 4',
      'it is the turn of b1 in term 4',
    ]);
  });
});

describe('pole', () => {
  const nodes = {
    a1: { scores: { latencyClass: 31, history: 7, queue: 3 } },
    b1: { scores: { latencyClass: 39, history: 9, queue: 3 } },
    c1: { scores: { latencyClass: 40, history: 99, queue: 1 } },
    d1: { scores: { history: 99 } },
    e1: { scores: { latencyClass: 39, history: 9, queue: 2 } },
  };

  it('takes the one with the longest log among the fastest', () => {
    const scores = [{ score: 'latencyClass', width: 10, better: 'lower' }, { score: 'history' }];
    const ranking = rankedBy('pole', inputOf(nodes), { scores });
    expect(order(ranking)).toBe('e1 b1 a1 c1 d1');
    expect(grades(ranking)).toBe('0 0 1 2 3');
    expect(ranking[0]?.reason).toBe('latencyClass = 39, in the class from 30 to below 40; history = 9');
    expect(ranking[0]?.score).toBe(39);
    expect(ranking[4]?.reason).toBe('it reports no latencyClass; history = 99');
  });

  it('goes on to the next score where all before are equal', () => {
    const scores = [
      { score: 'latencyClass', width: 10, better: 'lower' },
      { score: 'history' },
      { score: 'queue', better: 'lower' },
    ];
    expect(grades(rankedBy('pole', inputOf(nodes), { scores }))).toBe('0 1 2 3 4');
  });

  it('combines what follows from round trips with what nodes report', () => {
    const input = electionIn(deployments[1], [1, 1, 1]);
    const scores = [
      { score: 'consensus', width: 10 },
      { score: 'worst-case', width: 10 },
      { score: 'history' },
    ];
    expect(order(rankedBy('pole', input, { scores }))).toBe('p3 p2 p4 p1');
  });

  it('takes a name for a score with nothing said of it', () => {
    const input = electionIn(deployments[1], [1, 1, 1]);
    const spelledOut = rankedBy('pole', input, { scores: [{ score: 'latency' }, { score: 'history' }] });
    expect(rankedBy('pole', input, { scores: ['latency', 'history'] })).toEqual(spelledOut);
  });

  it('has a margin for all scores, and one of its own for each', () => {
    const input = {
      ...inputOf({ a1: { scores: { x: 10, y: 10 } }, b1: { scores: { x: 11, y: 11 } } }),
      incumbent: 'a1',
    };
    const ranked = (scores: readonly object[], margin: string | number) =>
      order(rankedBy('pole', input, { scores, margin }));
    expect(ranked([{ score: 'x' }, { score: 'y' }], 2)).toBe('a1 b1');
    expect(ranked([{ score: 'x' }, { score: 'y', margin: 1 }], 2)).toBe('b1 a1');
    expect(ranked([{ score: 'x', margin: '5%' }, { score: 'y' }], '20%')).toBe('b1 a1');
  });
});

describe('options', () => {
  it('of pole hold for the scores that follow from round trips', () => {
    const nodes = {
      a1: { scores: { hits: 1 }, roundTripsMs: { b1: 4, c1: 6, d1: 8 } },
      b1: {},
      c1: {},
      d1: {},
    };
    const options = { scores: ['latency'], size: 6, load: 'hits', margin: 0 };
    expect(reasons(rankedBy('pole', inputOf(nodes), options)).a1).toBe(
      'an average client is 8 ms away: quorum 8 ms + clients 0 ms',
    );
  });

  it('of pole name the unit of a margin', () => {
    const trips = { a1: { roundTripsMs: { b1: 10, c1: 10 } }, b1: { roundTripsMs: { c1: 9 } }, c1: {} };
    const ranking = rankedBy('pole', inputOf(trips, { incumbent: 'a1' }), {
      scores: ['consensus'],
      margin: 30,
    });
    expect(reasons(ranking).b1).toMatch(/the margin of 30 ms$/);
  });

  it.each([
    ['history', { margin: ['20%'] }, 'strategyOptions.margin: expected the margin'],
    ['history', { margin: 'much' }, 'strategyOptions.margin: expected the margin'],
    ['history', { margin: -1 }, 'strategyOptions.margin: expected the margin'],
    ['history', { width: -1 }, 'strategyOptions.width: expected a number'],
    ['history', { score: 'a b' }, 'strategyOptions.score: expected a name of 1 to 128 letters'],
    ['consensus', { size: 0 }, 'strategyOptions.size: expected a whole number'],
    ['consensus', { size: 2.5 }, 'strategyOptions.size: expected a whole number'],
    ['pole', {}, 'strategyOptions.scores: expected a list of scores, the most important first'],
    ['pole', { scores: [] }, 'strategyOptions.scores: expected a list of scores, the most important first'],
    ['pole', { scores: ['a b'] }, 'strategyOptions.scores.0.score: expected a name of 1 to 128 letters'],
    ['pole', { scores: [{ score: 'x' }, { score: 'x' }] }, 'strategyOptions.scores: a score is listed twice'],
    [
      'pole',
      { scores: [{ score: 'x', better: 'more' }] },
      'strategyOptions.scores.0.better: expected higher or lower',
    ],
    [
      'pole',
      { scores: [{ score: 'latency', better: 'higher' }] },
      'strategyOptions.scores.0.better: expected lower',
    ],
    [
      'pole',
      { scores: [{ score: 'x', with: 3 }] },
      'strategyOptions.scores.0: unknown `with`; expected one of score, better, width, margin',
    ],
  ])('%s refuses %j, and says what would be right', (strategy, strategyOptions, problem) => {
    const [first] = configProblems({ strategy, strategyOptions }, builtInRules);
    expect(first).toContain(problem);
  });
});
