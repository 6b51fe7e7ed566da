/**
 * Reproduces section 5 of D. Becker et al. (2011): the waiting times of clients and the recovery times, for
 * each data centre and elected leader. Latencies are compared with the published values where these are
 * available. Recovery times come only from the model.
 */
import type { Chart } from '../chart.js';
import { type Deployment, deployments, electedBy, recoveryMs, serve, usualService } from '../replication.js';
import { type Compared, compared, type Plan } from './reproduction.js';

interface Situation {
  readonly deployment: Deployment;
  /** Relative request rates of the data centres, starting with D1. */
  readonly loads: readonly number[];
  readonly strategy: string;
  readonly term?: number;
  /**
   * Measurements in the paper: the mean, and the value in each data centre. Where the paper gives a value
   * only as half of another one, this is that half.
   */
  readonly published?: { readonly meanMs: number; readonly centresMs?: readonly number[] };
}

const { 1: one, 2: two, 3: three, two: centres } = deployments;
const even = [1, 1, 1];

const situations: readonly Situation[] = [
  {
    deployment: one,
    loads: even,
    strategy: 'consensus',
    published: { meanMs: 42, centresMs: [12, 22, 92] },
  },
  { deployment: one, loads: even, strategy: 'worst-case', published: { meanMs: 33 } },
  { deployment: one, loads: even, strategy: 'latency' },
  { deployment: two, loads: even, strategy: 'consensus' },
  { deployment: two, loads: even, strategy: 'worst-case' },
  { deployment: one, loads: [1, 1, 0], strategy: 'latency', published: { meanMs: 16.5 } },
  { deployment: one, loads: [1, 1, 0], strategy: 'rotating', term: 8, published: { meanMs: 125.8 } },
  { deployment: one, loads: [0, 0, 1], strategy: 'latency', published: { meanMs: 57.4 } },
  { deployment: one, loads: [0, 0, 1], strategy: 'worst-case', published: { meanMs: 66.6 } },
  { deployment: three, loads: [0, 1, 0], strategy: 'latency', published: { meanMs: 57.4 } },
  { deployment: three, loads: [0, 1, 0], strategy: 'consensus', published: { meanMs: 111.3 } },
  { deployment: one, loads: [0, 0, 1], strategy: 'request' },
  { deployment: two, loads: [0, 0, 1], strategy: 'request' },
  { deployment: two, loads: [0, 0, 1], strategy: 'latency' },
  ...['history', 'request', 'consensus', 'latency', 'worst-case'].map((strategy) => {
    return { deployment: centres, loads: [1, 1], strategy, published: { meanMs: 30 } };
  }),
  ...['history', 'consensus', 'worst-case'].map((strategy) => {
    return { deployment: centres, loads: [1, 0], strategy, published: { meanMs: 43 } };
  }),
  ...['request', 'latency'].map((strategy) => {
    return { deployment: centres, loads: [1, 0], strategy, published: { meanMs: 43 / 2 } };
  }),
];

const figure = 'Mean latency of requests';

export const pole: Plan = {
  cases: [],
  runs: 1,
  make: (_results, seed) => {
    const played = situations.map((situation) => play(situation, seed));
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

interface Played extends Situation {
  /** The deployment, and the data centres that requests come from. */
  readonly place: string;
  /** The elected server, and the strategy that elects it. */
  readonly election: string;
  readonly served: ReturnType<typeof serve>;
  readonly recoveryMs: readonly number[];
}

function play(situation: Situation, seed: number): Played {
  const { deployment, loads, strategy, term } = situation;
  const leader = electedBy(deployment, strategy, loads, term);
  const place = `${deployment.name}, requests ${loads.join(':')}`;
  const election = `${strategy} elects ${leader}`;
  const served = serve({ ...usualService, seed, deployment, loads, leader });
  return { ...situation, place, election, served, recoveryMs: recoveryMs(deployment, leader) };
}

function pointsOf({ place, election, served, published }: Played): Compared[] {
  const name = `${place}, ${election}`;
  if (published === undefined) return [];
  const from = 'published';
  const all = { figure, point: name, from, expected: published.meanMs, measured: served.meanMs } as const;
  const own = (published.centresMs ?? []).flatMap((expected, index) => {
    const measured = served.centres[index]?.meanMs;
    const point = `${name}: D${index + 1}`;
    return measured === undefined ? [] : [compared({ figure, point, from, expected, measured })];
  });
  return [compared(all), ...own];
}

type SeriesOf = (played: Played) => Chart['series'];

function chartOf(title: string, all: readonly Played[], seriesOf: SeriesOf): Chart {
  const series = all.flatMap(seriesOf);
  return { title, x: { label: 'data centre', isLog: false }, y: { label: 'ms', isLog: false }, series };
}

function latencySeries({ election, served, published }: Played): Chart['series'] {
  const waits = served.centres.flatMap((wait, index) => (wait === null ? [] : [{ x: index + 1, ...wait }]));
  const printed = (published?.centresMs ?? []).map((y, index) => ({ x: index + 1, y }));
  return [
    { name: `${election}, mean`, points: waits.map(({ x, meanMs }) => ({ x, y: meanMs })), kind: 'measured' },
    {
      name: `${election}, worst`,
      points: waits.map(({ x, worstMs }) => ({ x, y: worstMs })),
      kind: 'theory',
    },
    ...(printed.length === 0 ? [] : [{ name: 'as published', points: printed, kind: 'published' } as const]),
  ];
}

function recoverySeries({ election, recoveryMs: all }: Played): Chart['series'] {
  return [{ name: election, points: all.map((y, index) => ({ x: index + 1, y })), kind: 'measured' }];
}
