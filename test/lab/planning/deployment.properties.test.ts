import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plotOf } from '../../../packages/lab/src/planning/plot.js';
import { PetrelError } from '../../../src/errors.js';
import { type Simulation, simulationSchema } from '../../../src/what-if/simulation.js';
import { anyText, expectClear, holds, spoilt, yamlText } from '../../support/properties.js';
import { ask, askOf } from '../../what-if/support.js';

const example = {
  sites: {
    a: { priority: 100, requests: 10, roundTripsMs: { a: 1, b: 10 } },
    b: { requests: 5 },
  },
  nodes: {
    a1: { site: 'a', priority: 7, scores: { history: '9007199254740993', other: 1.5 } },
    a2: { site: 'a', roundTripsMs: { b1: 3 } },
    b1: { site: 'b' },
  },
  leader: 'a1',
  term: 3,
  lose: ['node=a1'],
  strategy: 'latency',
  strategyOptions: { width: 5 },
  strategies: ['oldest', { strategy: 'pole', strategyOptions: { scores: [{ score: 'latency' }] } }],
};

/** Returns the answer. After a PetrelError, checks that its messages are clear and returns null. */
function answerTo(text: string, lose: readonly string[] = []): Simulation | null {
  try {
    return askOf(text, { lose });
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error;
    expect(error.code).toBe('INVALID');
    expectClear(error.message);
    for (const reason of error.reasons) expectClear(reason);
    return null;
  }
}

describe('a deployment in a file', () => {
  it('of any text is taken, or refused with what is wrong', async () => {
    expect(ask(example).outcomes.map(({ node }) => node)).toEqual(['a2', 'a2', 'a2']);
    await holds(
      fc.property(yamlText(spoilt(example)), (text) => {
        const answer = answerTo(text);
        if (answer !== null) expect(simulationSchema.parse(answer)).toEqual(answer);
      }),
      3,
    );
  });

  it('of any bytes does no harm', async () => {
    await holds(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        answerTo(Buffer.from(bytes).toString('utf8'));
      }),
    );
  });

  it('in which everything is wrong is refused soon, with what is wrong first', () => {
    const nodes = Array.from({ length: 20_000 }, (_, index) => `"/${index}": {site: a}`);
    const before = process.cpuUsage();
    expect(() => askOf(`sites: {a: {}}\nnodes: {${nodes.join(', ')}}`)).toThrow(
      /^20000 errors in file:\n {2}file:2:9: nodes\.\/0: .*\n {2}and 19980 more$/s,
    );
    // The limit applies to processor time only, because other tests may keep the processor busy in the
    // meantime.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(7_000);
  });

  it('loses what is there, whatever is requested', async () => {
    const text = JSON.stringify(example);
    const losses = fc.array(
      fc.oneof(
        anyText,
        anyText.map((name) => `node=${name}`),
        fc.constant('site=b'),
      ),
    );
    await holds(
      fc.property(losses, (lose) => {
        answerTo(text, lose);
      }),
    );
  });
});

const siteNames = ['s1', 's2', 's3', 's4'];
const trips = fc.integer({ min: 0, max: 20_000 }).map((hundredths) => hundredths / 100);
const rates = fc.nat({ max: 9 });

/**
 * Deployments with up to seven nodes at any sites. Every site has requests and a round trip to each site,
 * including itself.
 */
const deployments = fc
  .record({
    places: fc.array(fc.constantFrom(...siteNames), { minLength: 1, maxLength: 7 }),
    table: fc.array(trips, { minLength: 10, maxLength: 10 }),
    requests: fc.array(rates, { minLength: 4, maxLength: 4 }),
    lose: fc.subarray(['node=n0', 'node=n2', 'node=n3']),
  })
  .map(({ places, table, requests, lose }) => {
    let next = 0;
    const used = siteNames.filter((name) => places.includes(name));
    const sites = used.map((name, index) => {
      const row = used.slice(index).map((other) => [other, table[next++ % table.length] ?? 0]);
      return [name, { requests: requests[index] ?? 0, roundTripsMs: Object.fromEntries(row) }];
    });
    const nodes = places.map((site, index) => [`n${index}`, { site }]);
    return {
      sites: Object.fromEntries(sites),
      nodes: Object.fromEntries(nodes),
      lose: lose.filter((text) => Number(text.at(-1)) < places.length),
    };
  });
type Drawn = typeof deployments extends fc.Arbitrary<infer T> ? T : never;

/** Computes θc, θl and θw as in the paper, by sorting and summing. Returns null if there is no quorum. */
function byHand({ sites, nodes, lose }: Drawn, leader: string) {
  const left = Object.keys(nodes).filter((node) => !lose.includes(`node=${node}`));
  const quorum = Math.floor(Object.keys(nodes).length / 2) + 1;
  if (left.length < quorum) return null;
  const siteOf = (node: string): string => nodes[node].site;
  const trip = (a: string, b: string): number => {
    if (a === b) return 0;
    return sites[siteOf(a)].roundTripsMs[siteOf(b)] ?? sites[siteOf(b)].roundTripsMs[siteOf(a)];
  };
  const rate = (node: string): number => {
    return sites[siteOf(node)].requests / left.filter((other) => siteOf(other) === siteOf(node)).length;
  };
  const vector = left.map((node) => trip(leader, node));
  const consensus = vector.toSorted((a, b) => a - b)[quorum - 1] ?? Number.NaN;
  const total = left.map(rate).reduce((a, b) => a + b, 0);
  const share = (node: string) => (total === 0 ? 1 / left.length : rate(node) / total);
  const mean = left.map((node) => share(node) * trip(leader, node)).reduce((a, b) => a + b, 0);
  return { quorumMs: consensus, meanMs: consensus + mean, worstMs: consensus + Math.max(...vector) };
}

describe('any deployment', () => {
  it('has the latencies that the definitions give, and no choice is better than the best', async () => {
    await holds(
      fc.property(deployments, (deployment) => {
        const { nodes, outcomes, best } = ask(deployment);
        for (const node of nodes) {
          const expected = byHand(deployment, node.node);
          expect(node.quorumMs === null).toBe(expected === null);
          if (expected === null) continue;
          expect(node.quorumMs).toBeCloseTo(expected.quorumMs, 2);
          expect(node.meanMs).toBeCloseTo(expected.meanMs, 2);
          expect(node.worstMs).toBeCloseTo(expected.worstMs, 2);
        }
        const bestOf = (strategy: string) => outcomes.find((outcome) => outcome.strategy === strategy);
        if (best.mean === null) return;
        expect(bestOf('latency')?.meanMs).toBeCloseTo(best.mean.ms, 2);
        expect(bestOf('worst-case')?.worstMs).toBeCloseTo(best.worst?.ms ?? Number.NaN, 2);
        for (const { aboveBestMean, aboveBestWorst } of outcomes) {
          expect(aboveBestMean?.ms).toBeGreaterThanOrEqual(0);
          expect(aboveBestWorst?.ms).toBeGreaterThanOrEqual(0);
        }
      }),
      2,
    );
  });

  it('has sites whose latencies sum up to the mean', async () => {
    await holds(
      fc.property(deployments, (deployment) => {
        for (const { sites, meanMs } of ask(deployment).outcomes) {
          if (meanMs === null) continue;
          const mean = sites.map(({ share, ms }) => share * (ms ?? 0)).reduce((a, b) => a + b, 0);
          expect(Math.abs(mean - meanMs)).toBeLessThan(0.01);
        }
      }),
    );
  });

  it('has a picture, whatever the names of things', async () => {
    const drawn = fc.tuple(deployments, anyText);
    await holds(
      fc.property(drawn, ([deployment, of]) => {
        const svg = plotOf({ ...ask(deployment), of });
        expect(svg.replace(/<text[^>]*>[^<]*/, '')).not.toMatch(/NaN|undefined|Infinity/);
        expect(svg).not.toMatch(/[\p{Cs}\ufffe\uffff]|[^\P{Cc}\n]/u);
        expect(svg.match(/<text/g)?.length).toBe(svg.match(/<\/text>/g)?.length);
        expect(svg).toMatch(/^<svg [^<>]*>\n<rect [^<>]*fill="#ffffff"><\/rect>/);
      }),
    );
  });
});
