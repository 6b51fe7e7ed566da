/**
 * Two crashes, and partitions. Messages take 10 ms, a crash is detected after 3 s, and a partition lasts for
 * 20 s. No source contains formulas for two crashes.
 */
import type { Conditions } from '../conditions.js';
import { type Curve, electionOf, type Figure, meanOf, mostOf, overNodes, planOf } from './reproduction.js';

const sizes = [5, 20];
const apartMs = 20_000;
const elections = [
  'lcr',
  'hs',
  'ring-timeouts',
  'ring-detector',
  'bully',
  'majority',
  'pole',
  'zk-recipe',
  'petrel',
  'le-a',
  'le-s',
];

const casesOf = (scenario: 'crashes' | 'partition') =>
  elections.map((name) => ({
    name,
    cases: sizes.map((nodes) => electionOf(name, { nodes, scenario, limitMs: 120_000 })),
  }));
const crashed = casesOf('crashes');
const parted = casesOf('partition');

function figure(title: string, label: string, of: typeof parted, rest: Pick<Curve, 'estimate'>): Figure {
  const curves = of.map((one): Curve => ({ ...one, ...rest, from: 'none' }));
  return { title, x: overNodes, y: { label }, curves };
}

/**
 * The behaviour that Algorithm 1 must show under a partition: only the majority's side has a leader, and
 * there are never two leaders.
 */
const [poleParted] = parted.filter(({ name }) => name === 'pole');
const poleFigure: Figure = {
  title: 'POLE, Algorithm 1, while a minority with the leader is cut off',
  x: overNodes,
  y: { label: 'leaders' },
  curves: (poleParted === undefined ? [] : [poleParted]).flatMap(({ cases }) =>
    [
      { name: 'leaders of the minority', measure: 'leaders of the minority', count: 0 },
      { name: 'leaders of the majority', measure: 'leaders of the majority', count: 1 },
      { name: 'most leaders at one time', measure: 'leaders', count: 1 },
    ].map(({ name, measure, count }): Curve => {
      return { name, cases, estimate: mostOf(measure), from: 'derived', expected: () => count };
    }),
  ),
};

const sinceReunion = (time: number, _given: Conditions) => time - apartMs;

export const failures = planOf(5, [
  figure('Two crashes: time to agreement', 'ms', crashed, { estimate: meanOf('time') }),
  figure('Two crashes: share of runs that agree', 'share', crashed, { estimate: meanOf('agreed') }),
  figure('Partition: leaders of the minority', 'leaders', parted, {
    estimate: meanOf('leaders of the minority'),
  }),
  figure('Partition: leaders of the majority', 'leaders', parted, {
    estimate: meanOf('leaders of the majority'),
  }),
  figure('Partition: time from its end to agreement', 'ms', parted, {
    estimate: meanOf('time', sinceReunion),
  }),
  poleFigure,
]);
