import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import { simulationSchema } from '../../src/what-if/simulation.js';
import { type Asking, ask, askOf } from './support.js';

/** Two nodes in site a, two in b and one in c. The round trip from a is 10 ms to b and 50 ms to c. */
const deployment = {
  sites: {
    a: { priority: 100, roundTripsMs: { a: 1, b: 10, c: 50 } },
    b: { priority: 50, roundTripsMs: { c: 40 } },
    c: { priority: 10 },
  },
  nodes: {
    a1: { site: 'a' },
    a2: { site: 'a' },
    b1: { site: 'b' },
    b2: { site: 'b' },
    c1: { site: 'c' },
  },
  leader: 'a1',
};

function refusal(change: object, asking: Asking = {}): string {
  try {
    ask({ ...deployment, ...change }, asking);
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error;
    expect(error.code).toBe('INVALID');
    return error.message;
  }
  throw new Error('it was taken');
}

function electedBy(strategy: string, change: object = {}, asking: Asking = {}) {
  const { outcomes } = ask({ ...deployment, ...change }, asking);
  return outcomes.find((outcome) => outcome.strategy === strategy);
}

describe('a what-if', () => {
  it('keeps to its schema, and sums up latencies by hand', () => {
    const simulation = ask(deployment);
    expect(simulationSchema.parse(simulation)).toEqual(simulation);
    // A quorum is 3 nodes: a1 itself, a2 after 1 ms, and b1 after 10 ms.
    expect(simulation.nodes.find(({ node }) => node === 'a1')).toEqual({
      ...{ node: 'a1', site: 'a', eligible: true, ineligibleReasons: [], share: 0.2 },
      ...{ quorumMs: 10, meanMs: 10 + (0 + 1 + 10 + 10 + 50) / 5, worstMs: 60 },
    });
    expect(electedBy('site-priority')).toMatchObject({
      node: 'a1',
      meanMs: 24.2,
      worstMs: 60,
      decides: true,
    });
    expect(simulation.notes).toEqual([
      'requests are unknown: all nodes are assumed to receive the same number',
    ]);
  });

  it('says how far from the best a choice is, and who that would be', () => {
    const { outcomes, best } = ask({ ...deployment, leader: null });
    // With b1 as leader, a quorum takes 10 ms, and the round trips to the nodes are 0, 0, 10, 10 and 40 ms.
    expect(best).toEqual({ mean: { node: 'b1', ms: 22 }, worst: { node: 'b1', ms: 50 } });
    const own = outcomes.find(({ strategy }) => strategy === 'site-priority');
    expect(own).toMatchObject({
      aboveBestMean: { ms: 2.2, percent: 10 },
      aboveBestWorst: { ms: 10, percent: 20 },
    });
    expect(outcomes.find(({ strategy }) => strategy === 'latency')).toMatchObject({
      aboveBestMean: { ms: 0, percent: 0 },
    });
  });

  it('shows the latency of each site', () => {
    expect(electedBy('site-priority')?.sites).toEqual([
      { site: 'a', share: 0.4, ms: 10.5 },
      { site: 'b', share: 0.4, ms: 20 },
      { site: 'c', share: 0.2, ms: 60 },
    ]);
  });

  it('thinks away nodes and sites, which the size of the group still counts', () => {
    const simulation = ask({ ...deployment, lose: ['node=b1'] }, { lose: ['site=a'] });
    expect(simulation).toMatchObject({ lost: ['a1', 'a2', 'b1'], size: 5, quorum: 3, leader: 'a1' });
    expect(simulation.nodes.map(({ node }) => node)).toEqual(['b2', 'c1']);
    expect(electedBy('site-priority', {}, { lose: ['site=a'] })).toMatchObject({ node: 'b1', site: 'b' });
  });

  it('elects nobody by a quorum that is not left, and says so', () => {
    const { outcomes, notes } = ask(deployment, { lose: ['site=a', 'site=b'] });
    const reason = 'no quorum remains: 1 of 5 nodes are left, but 3 are required';
    for (const strategy of ['consensus', 'latency', 'worst-case']) {
      expect(outcomes).toContainEqual(
        expect.objectContaining({ strategy, node: null, meanMs: null, reason }),
      );
    }
    expect(outcomes[0]).toMatchObject({ strategy: 'site-priority', node: 'c1', meanMs: null });
    expect(notes).toEqual(['latencies are unknown: the remaining nodes have no quorum']);
  });

  it('counts nodes that only the size mentions', () => {
    expect(electedBy('consensus', {}, { lose: ['site=b'], size: 7 })).toMatchObject({ node: null });
    expect(electedBy('consensus', { leader: null }, { lose: ['site=b'] })).toMatchObject({
      node: 'c1',
      meanMs: 83.333,
    });
    expect(refusal({}, { size: 4 })).toBe(
      '--size: too small, because the group already has 5 nodes (including lost nodes)',
    );
  });

  it('counts as many nodes as the option of its configured strategy says', () => {
    const own = { strategy: 'consensus', strategyOptions: { size: 9 } };
    expect(ask({ ...deployment, ...own })).toMatchObject({ size: 9, quorum: 5 });
    const reason = 'no quorum remains: 4 of 9 nodes are left, but 5 are required';
    expect(electedBy('consensus', own, { lose: ['node=c1'] })).toMatchObject({ node: null, reason });
  });

  it('leaves a leader that is there only for what is better by the margin', () => {
    const strategies = [{ strategy: 'latency', strategyOptions: { margin: 0 } }];
    // The mean is 22 ms with b1 as leader, and 24.2 ms with a1.
    expect(electedBy('latency')).toMatchObject({ node: 'a1', aboveBestMean: { ms: 2.2, percent: 10 } });
    expect(electedBy('latency', { strategies })).toMatchObject({ node: 'b2' });
  });

  it('leads nobody of priority 0, and nobody at all where that is everybody', () => {
    const idle = { ...deployment.sites, a: { ...deployment.sites.a, priority: 0 } };
    expect(electedBy('latency', { sites: idle, leader: null })).toMatchObject({ site: 'b' });
    const { outcomes, nodes } = ask({ ...deployment, sites: idle }, { lose: ['site=b', 'site=c'] });
    expect(outcomes.map(({ node }) => node).every((node) => node === null)).toBe(true);
    expect(nodes[0]).toMatchObject({
      eligible: false,
      ineligibleReasons: ['site a has priority 0, so its nodes never lead'],
    });
  });

  it('has clients of a site turn to the nodes that are left there, and lose them with the last', () => {
    const [a, b, c] = [{ requests: 90 }, { requests: 10 }, { requests: 0 }];
    const { sites } = deployment;
    const loaded = { sites: { a: { ...sites.a, ...a }, b: { ...sites.b, ...b }, c: { ...sites.c, ...c } } };
    const shares = (asking: Asking) => {
      const { nodes } = ask({ ...deployment, ...loaded }, asking);
      return Object.fromEntries(nodes.map(({ node, share }) => [node, share]));
    };
    expect(shares({})).toEqual({ a1: 0.45, a2: 0.45, b1: 0.05, b2: 0.05, c1: 0 });
    expect(shares({ lose: ['node=a1'] })).toEqual({ a2: 0.9, b1: 0.05, b2: 0.05, c1: 0 });
    expect(shares({ lose: ['site=a'] })).toEqual({ b1: 0.5, b2: 0.5, c1: 0 });
  });

  it('takes a round trip as the leader measures it, between nodes before sites, and says where sides differ', () => {
    const nodes = {
      a1: { site: 'a', roundTripsMs: { b1: 3 } },
      a2: { site: 'a' },
      b1: { site: 'b', roundTripsMs: { a1: 5 } },
    };
    const { nodes: simulated, notes } = ask({ ...deployment, nodes });
    expect(simulated.map(({ node, worstMs }) => [node, worstMs])).toEqual([
      ['a1', 1 + 3],
      ['a2', 1 + 10],
      ['b1', 5 + 10],
    ]);
    expect(notes).toContain(
      'nodes a1 and b1 measure different round trips, 3 and 5 ms: each direction uses its own value',
    );
  });

  it('leaves out strategies that have nothing to go by, and says why', () => {
    const { leftOut } = ask(deployment);
    expect(leftOut.map(({ strategy }) => strategy).toSorted()).toEqual([
      'conditional',
      'history',
      'pole',
      'preference-list',
      'request',
    ]);
    expect(leftOut).toContainEqual({ strategy: 'history', reason: 'it reports no history' });
  });

  it('compares those that the file lists, with their options', () => {
    const listed = [
      { strategy: 'preference-list', strategyOptions: { order: ['c1'] } },
      { strategy: 'pole', strategyOptions: { scores: [{ score: 'latency', width: 30 }] } },
      'oldest',
    ];
    const { outcomes, leftOut } = ask({ ...deployment, leader: null, strategies: listed });
    expect(outcomes.map(({ strategy, node }) => [strategy, node])).toEqual([
      ['site-priority', 'a1'],
      ['preference-list', 'c1'],
      ['pole', 'b2'],
      ['oldest', 'a1'],
    ]);
    expect(leftOut).toEqual([]);
  });

  it('compares those that are named alone, each of which has to elect somebody', () => {
    const strategies = [{ strategy: 'preference-list', strategyOptions: { order: ['c1'] } }];
    const named = ask({ ...deployment, leader: null, strategies }, { names: ['preference-list', 'latency'] });
    expect(named.outcomes.map(({ node, decides }) => [node, decides])).toEqual([
      ['c1', true],
      ['b2', true],
    ]);
    const options = { order: ['b1'] };
    const given = ask({ ...deployment, leader: null, strategies }, { names: ['preference-list'], options });
    expect(given.outcomes.map(({ node }) => node)).toEqual(['b1']);
  });

  it('accepts what exists, or says what there is', () => {
    expect(refusal({}, { names: ['latncy'] })).toMatch(
      /^--strategy: strategy: unknown strategy "latncy": expected one of/,
    );
    expect(refusal({ strategies: ['latncy'] })).toMatch(/^strategies: strategy: unknown strategy "latncy"/);
    expect(refusal({ strategy: 'latncy' })).toMatch(
      /^the group's strategy: strategy: unknown strategy "latncy"/,
    );
    expect(refusal({}, { lose: ['a1'] })).toBe('--lose: expected one node=NODE or site=SITE, found "a1"');
    expect(refusal({}, { lose: ['site=d'] })).toBe('--lose: unknown site d: known sites: a, b, c');
  });

  it('takes one node as it is', () => {
    const { outcomes } = ask({ sites: { a: {} }, nodes: { a1: { site: 'a' } } });
    expect(outcomes.find(({ strategy }) => strategy === 'latency')).toMatchObject({
      node: 'a1',
      meanMs: 0,
      aboveBestMean: { ms: 0, percent: 0 },
    });
  });

  it('keeps positions of 64 bits apart, and names that every object has', () => {
    const scores = (history: string) => ({ history });
    const sites = { constructor: { roundTripsMs: { toString: 4 } }, toString: {} };
    const nodes = {
      constructor: { site: 'constructor', scores: scores('9007199254740993') },
      valueOf: { site: 'toString', scores: scores('9007199254740992') },
    };
    const { outcomes } = ask({ sites, nodes, strategy: 'history' });
    expect(outcomes[0]).toMatchObject({ node: 'constructor', site: 'constructor', worstMs: 8 });
  });
});

describe('a large deployment', () => {
  const names = (letter: string, count: number) => Array.from({ length: count }, (_, n) => `${letter}${n}`);

  function large(nodes: number, sites: number): string {
    const places = names('s', sites);
    const table = places.map((site, index) => {
      const others = places.slice(index).map((other, apart) => [other, apart + 0.5]);
      return [site, { requests: index, roundTripsMs: Object.fromEntries(others) }];
    });
    const list = names('n', nodes).map((node, n) => [
      node,
      { site: places[n % sites], scores: { history: n } },
    ]);
    return JSON.stringify({
      sites: Object.fromEntries(table),
      nodes: Object.fromEntries(list),
      leader: 'n0',
    });
  }

  it('of a thousand nodes in a hundred sites is answered', () => {
    const { outcomes, nodes, best } = askOf(large(1000, 100), { lose: ['site=s0'] });
    expect(nodes).toHaveLength(990);
    expect(outcomes.map(({ strategy }) => strategy)).toEqual(expect.arrayContaining(['history', 'latency']));
    expect(outcomes.find(({ strategy }) => strategy === 'latency')?.meanMs).toBe(best.mean?.ms);
  });

  it('of more is refused', () => {
    expect(() => askOf(large(1001, 10))).toThrow('expected at most 1000 nodes, found 1001');
    expect(() => askOf(large(600, 600))).toThrow(
      'the file is longer than 2 MiB: give round trips between sites',
    );
  });
});

describe('a deployment', () => {
  it.each<[string, object, string]>([
    [
      'a site that is not there',
      { nodes: { a1: { site: 'd' } } },
      'nodes.a1.site: unknown site d: known sites: a, b, c',
    ],
    [
      'a leader that is not there',
      { leader: 'z' },
      'leader: unknown node z: known nodes: a1, a2, b1, b2, c1',
    ],
    [
      'a key that means nothing',
      { nodes: { a1: { site: 'a', priorty: 1 } } },
      'nodes.a1: unknown `priorty`; expected one of site, priority, scores, roundTripsMs',
    ],
    ['no nodes', { nodes: {} }, 'nodes: expected at least one node'],
    [
      'a name that is none',
      { nodes: { 'a/1': { site: 'a' } } },
      'nodes.a/1: expected a name of 1 to 128 letters, digits, dots, hyphens or underscores',
    ],
    [
      'a negative round trip',
      { sites: { ...deployment.sites, c: { roundTripsMs: { a: -1 } } } },
      'sites.c.roundTripsMs.a: expected a round trip in milliseconds, a number of at least 0',
    ],
    [
      'a round trip that is no number',
      { sites: { ...deployment.sites, c: { roundTripsMs: { a: Number.NaN } } } },
      'sites.c.roundTripsMs.a: expected a round trip in milliseconds, a number of at least 0',
    ],
    [
      'a round trip to itself',
      { nodes: { a1: { site: 'a', roundTripsMs: { a1: 0 } } } },
      'nodes.a1.roundTripsMs.a1: a round trip from a node to itself is not allowed: remove it',
    ],
    [
      'sites without a distance',
      { sites: { a: {}, b: {}, c: {} } },
      'sites: the round trip between a and b is missing: add it to roundTripsMs of one of them',
    ],
    [
      'requests of some sites alone',
      { sites: { ...deployment.sites, c: { requests: 5 } } },
      'sites.a: requests are missing, although other sites have them: write requests: 0 for a site without requests',
    ],
    [
      'requests where no node is',
      { sites: { ...deployment.sites, d: { requests: 5 } } },
      'sites.d.requests: the site has requests but no node',
    ],
    [
      'negative requests of a node',
      { nodes: { a1: { site: 'a', scores: { requests: -1 } } } },
      'nodes.a1.scores.requests: expected requests as a rate or share, a number from 0 to 1e15',
    ],
    [
      'a score that loses digits',
      { nodes: { a1: { site: 'a', scores: { history: 2 ** 60 } } } },
      'nodes.a1.scores.history: numbers beyond ±9007199254740991 lose digits: write the number in quotes',
    ],
    ['a loss of what is not there', { lose: ['node=z'] }, 'lose.0: unknown node z'],
  ])('is refused with %s, at its place', (_what, change, message) => {
    const error = refusal(change);
    expect(error).toContain(message);
    expect(error).toMatch(/file:\d+:\d+: /);
  });

  it('is refused with requests both of a site and of its node', () => {
    const sites = { a: { requests: 1 } };
    const nodes = { a1: { site: 'a', scores: { requests: 1 } } };
    expect(refusal({ sites, nodes })).toContain('give requests either by site or by node, not both');
  });

  it('points at the line and column of what is wrong', () => {
    const error = refusal({ leader: 'a9' });
    expect(error).toMatch(/^file:25:1: leader: unknown node a9/);
  });

  it('of the documentation is one', () => {
    const docs = readFileSync(new URL('../../docs/guides/simulate.md', import.meta.url), 'utf8');
    const example = /```yaml\n(?<text>.*?)```/s.exec(docs)?.groups?.text ?? '';
    expect(askOf(example).outcomes.map(({ node }) => node)).toEqual(['a2', 'a2', 'a2']);
  });
});
