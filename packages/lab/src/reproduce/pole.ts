/**
 * Reproduces section 5 of D. Becker et al. (2011): the waiting times of clients and the recovery times, for
 * each data centre and elected leader. Latencies are compared with the published values where these are
 * available. Recovery times come only from the model.
 */
import type { Chart } from '../chart.js';
import {
  type Deployment,
  deployments,
  electedBy,
  recoveryMs,
  type Served,
  serve,
  usualService,
  type Waits,
} from '../replication.js';
import { summarize } from '../statistics.js';
import { type Compared, compared, type Expected, type Plan } from './reproduction.js';

interface Situation {
  readonly deployment: Deployment;
  /** Relative request rates of the data centres, starting with D1. */
  readonly loads: readonly number[];
  readonly strategies: readonly string[];
  readonly term?: number;
  readonly published?: Published;
}

/** Measurements in the paper: the mean, and the value in each data centre. */
interface Published {
  readonly meanMs: number;
  readonly centresMs?: readonly number[];
  /** Whether the paper gives the mean only as half of another mean. */
  readonly isHalf?: boolean;
}

const { 1: one, 2: two, 3: three, two: centres } = deployments;
const even = [1, 1, 1];

const situations: readonly Situation[] = [
  {
    deployment: one,
    loads: even,
    strategies: ['consensus'],
    published: { meanMs: 42, centresMs: [12, 22, 92] },
  },
  { deployment: one, loads: even, strategies: ['worst-case'], published: { meanMs: 33 } },
  { deployment: one, loads: even, strategies: ['latency'] },
  { deployment: two, loads: even, strategies: ['consensus', 'worst-case'] },
  { deployment: one, loads: [1, 1, 0], strategies: ['latency'], published: { meanMs: 16.5 } },
  { deployment: one, loads: [1, 1, 0], strategies: ['rotating'], term: 8, published: { meanMs: 125.8 } },
  { deployment: one, loads: [0, 0, 1], strategies: ['latency'], published: { meanMs: 57.4 } },
  { deployment: one, loads: [0, 0, 1], strategies: ['worst-case'], published: { meanMs: 66.6 } },
  { deployment: three, loads: [0, 1, 0], strategies: ['latency'], published: { meanMs: 57.4 } },
  { deployment: three, loads: [0, 1, 0], strategies: ['consensus'], published: { meanMs: 111.3 } },
  { deployment: one, loads: [0, 0, 1], strategies: ['request'] },
  { deployment: two, loads: [0, 0, 1], strategies: ['request'] },
  { deployment: two, loads: [0, 0, 1], strategies: ['latency'] },
  {
    deployment: centres,
    loads: [1, 1],
    strategies: ['history', 'request', 'consensus', 'latency', 'worst-case'],
    published: { meanMs: 30 },
  },
  {
    deployment: centres,
    loads: [1, 0],
    strategies: ['history', 'consensus', 'worst-case'],
    published: { meanMs: 43 },
  },
  {
    deployment: centres,
    loads: [1, 0],
    strategies: ['request', 'latency'],
    published: { meanMs: 43 / 2, isHalf: true },
  },
];

const figure = 'Mean latency of requests';

export const pole: Plan = {
  cases: [],
  runs: 1,
  expected: () => situations.flatMap(electedIn).flatMap(expectedOf),
  make: (_runsOf, seeds) => {
    const played = situations.flatMap(electedIn).map((one) => play(one, seeds));
    const places = [...new Set(played.map(({ place }) => place))];
    const charts = places.flatMap((place) => {
      const own = played.filter((one) => one.place === place);
      return [
        chartOf(`Request latency, ${place}`, own, latencySeries),
        chartOf(`Recovery (modelled), ${place}`, own, recoverySeries),
      ];
    });
    return { charts, points: played.flatMap(pointsOf) };
  },
};

interface Elected extends Situation {
  /** The deployment, and the data centres that requests come from. */
  readonly place: string;
  /** The elected server, and the strategies that elect it. */
  readonly election: string;
  readonly leader: string;
}

interface Played extends Elected {
  /** Results of the simulations, one for each seed. */
  readonly served: readonly Served[];
  readonly recoveryMs: readonly number[];
}

/** Returns each elected server once, with all strategies that elect it. */
function electedIn(situation: Situation): Elected[] {
  const { deployment, loads, strategies, term } = situation;
  const place = `${deployment.name}, requests ${loads.join(':')}`;
  const leaderOf = (strategy: string) => electedBy(deployment, strategy, loads, term);
  const leaders = [...new Set(strategies.map(leaderOf))];
  return leaders.map((leader) => {
    const electing = strategies.filter((strategy) => leaderOf(strategy) === leader);
    const election = `${electing.join(', ')} ${electing.length === 1 ? 'elects' : 'elect'} ${leader}`;
    return { ...situation, place, election, leader };
  });
}

function play(elected: Elected, seeds: readonly number[]): Played {
  const { deployment, loads, leader } = elected;
  const served = seeds.map((seed) => serve({ ...usualService, seed, deployment, loads, leader }));
  return { ...elected, served, recoveryMs: recoveryMs(deployment, leader) };
}

function expectedOf({ place, election, published }: Elected): Expected[] {
  if (published === undefined) return [];
  const { meanMs, centresMs = [], isHalf = false } = published;
  const name = `${place}, ${election}`;
  return [
    { figure, point: name, from: isHalf ? 'implied' : 'published', expected: meanMs },
    ...centresMs.map((expected, index): Expected => {
      return { figure, point: `${name}: D${index + 1}`, from: 'published', expected };
    }),
  ];
}

/**
 * Compares the mean latency of all requests, and then the mean latency in each data centre. Each seed is one
 * run.
 */
function pointsOf(played: Played): Compared[] {
  return expectedOf(played).map((expected, index) =>
    compared(
      expected,
      played.served.map(({ meanMs, centres: own }) =>
        index === 0 ? [meanMs] : [own[index - 1]?.meanMs ?? []].flat(),
      ),
    ),
  );
}

type SeriesOf = (played: Played) => Chart['series'];

function chartOf(title: string, all: readonly Played[], seriesOf: SeriesOf): Chart {
  const series = all.flatMap(seriesOf);
  return { title, x: { label: 'data centre', isLog: false }, y: { label: 'ms', isLog: false }, series };
}

function latencySeries({ election, served, published, deployment }: Played): Chart['series'] {
  const centresOf = (measure: keyof Waits) =>
    deployment.places.flatMap((_, index) => {
      const values = served.flatMap(({ centres: all }) => all[index]?.[measure] ?? []);
      return values.length === 0 ? [] : [{ x: index + 1, y: summarize(values).mean }];
    });
  const printed = (published?.centresMs ?? []).map((y, index) => ({ x: index + 1, y }));
  return [
    { name: `${election}, mean`, points: centresOf('meanMs'), kind: 'measured' },
    { name: `${election}, worst`, points: centresOf('worstMs'), kind: 'theory' },
    ...(printed.length === 0 ? [] : [{ name: 'as published', points: printed, kind: 'published' } as const]),
  ];
}

function recoverySeries({ election, recoveryMs: all }: Played): Chart['series'] {
  return [{ name: election, points: all.map((y, index) => ({ x: index + 1, y })), kind: 'measured' }];
}
