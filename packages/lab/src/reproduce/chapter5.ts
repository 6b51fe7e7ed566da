/** Reproduces the plots of E. Schooler's chapter on leader election, with Δ = 0.1 s and TA = TS = 1 s. */
import {
  attemptsUntilAllHear,
  lostInRow,
  meanWaitMs,
  reestablishMs,
  suppressionMessages,
} from '../algorithms/announce-listen-theory.js';
import type { Chart, Series } from '../chart.js';
import type { Conditions } from '../conditions.js';
import type { Case, Result } from '../experiment.js';
import { type Compared, compared, electionOf, type Plan } from './reproduction.js';

const delayMs = 100;
const delay = { kind: 'constant', ms: delayMs } as const;
const sizes = [2, 5, 10, 20, 50, 100];
const losses = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
const kinds = [
  { name: 'le-a', waits: false, prefers: 'highest' },
  { name: 'le-s', waits: true, prefers: 'highest' },
  { name: 'le-m', waits: true, prefers: 'earliest' },
] as const;

/** A figure: its title, the quantity on its x axis, and the runs that it shows. */
interface Figure {
  readonly title: string;
  readonly x: { readonly label: string; readonly of: (given: Conditions) => number };
  readonly measure: string;
  readonly y: string;
  readonly curves: readonly Curve[];
}

interface Curve {
  readonly name: string;
  readonly cases: readonly Case[];
  /** Returns the expected value of the measure. */
  expected(given: Conditions): number;
  /** Time that is subtracted from the measured value. It is Δ if the chapter's plot leaves Δ out. */
  readonly offset?: number;
  /** The values that the chapter prints, by their x value. */
  readonly published?: ReadonlyMap<number, number>;
}

const overNodes = { label: 'N', of: ({ nodes }: Conditions) => nodes };
const overLoss = { label: 'l', of: ({ loss }: Conditions) => loss };

const figures: readonly Figure[] = [
  {
    title: 'Announcements while nodes wait',
    x: overNodes,
    measure: 'suppression messages',
    y: 'messages',
    curves: [
      {
        name: 'LE-S',
        cases: sizes.map((nodes) => electionOf('le-s', { nodes, delay })),
        expected: ({ nodes }) => suppressionMessages(nodes, delayMs, 1000),
        published: new Map([
          [10, 3.824],
          [50, 9.394],
          [100, 15.082],
        ]),
      },
      {
        name: 'LE-S, correlated loss 0.4',
        cases: sizes.map((nodes) => electionOf('le-s', { nodes, delay, loss: 0.4, correlated: true })),
        expected: ({ nodes }) => suppressionMessages(nodes, delayMs, 1000, 0.4),
      },
    ],
  },
  {
    title: 'Leadership delay, without loss',
    x: overNodes,
    measure: 'time',
    y: 'ms',
    curves: kinds.map(
      (kind): Curve => ({
        name: kind.name.toUpperCase(),
        cases: sizes.map((nodes) => electionOf(kind.name, { nodes, delay })),
        expected: ({ nodes }) => meanWaitMs(kind, nodes, 1000) + delayMs,
      }),
    ),
  },
  {
    title: 'Time of the converging message (without Δ), correlated loss, 20 nodes',
    x: overLoss,
    measure: 'time',
    y: 'ms',
    curves: [
      {
        name: 'LE-S',
        cases: losses.map((loss) => electionOf('le-s', { nodes: 20, delay, loss, correlated: true })),
        expected: ({ loss }) => 500 + 1000 * lostInRow(loss),
        offset: delayMs,
        published: new Map([[0.4, 1167]]),
      },
    ],
  },
  {
    title: 'Time of the converging message (without Δ), uncorrelated loss 0.4',
    x: overNodes,
    measure: 'time',
    y: 'ms',
    curves: [
      {
        name: 'LE-S',
        cases: sizes.map((nodes) => electionOf('le-s', { nodes, delay, loss: 0.4 })),
        expected: ({ nodes }) => 500 + 1000 * (attemptsUntilAllHear(nodes - 1, 0.4) - 1),
        offset: delayMs,
      },
    ],
  },
  {
    title:
      'Time from the leader’s crash to agreement on the next leader, correlated loss, 20 nodes, TL = 8 s',
    x: overLoss,
    measure: 'time',
    y: 'ms',
    curves: kinds
      .filter(({ prefers }) => prefers === 'highest')
      .map(
        (kind): Curve => ({
          name: kind.name.toUpperCase(),
          cases: losses.slice(0, 5).map((loss) => {
            const shared = { nodes: 20, delay, correlated: true, scenario: 'crash', listenMs: 8000 } as const;
            return electionOf(kind.name, { ...shared, loss });
          }),
          expected: (given) => reestablishMs({ ...kind, title: '', bye: false, query: false }, given),
        }),
      ),
  },
];

export const chapter5: Plan = {
  cases: figures.flatMap(({ curves }) => curves.flatMap(({ cases }) => cases)),
  runs: 400,
  make: (results) => {
    const of = (one: Case) => results.find(({ conditions }) => conditions === one.conditions);
    return {
      charts: figures.map((figure) => chartOf(figure, of)),
      points: figures.flatMap((figure) => figure.curves.flatMap((curve) => pointsOf(figure, curve, of))),
    };
  },
};

type Find = (one: Case) => Result | undefined;

function pointsOf({ title, x, measure }: Figure, curve: Curve, of: Find): Compared[] {
  return curve.cases.flatMap((one) => {
    const summary = of(one)?.measures[measure];
    if (summary === undefined) return [];
    const at = x.of(one.conditions);
    const ci = summary.least === summary.most ? null : summary.ci;
    const point = `${curve.name}, ${x.label} = ${at}`;
    const shared = { figure: title, point, measured: summary.mean - (curve.offset ?? 0), ci };
    const byFormula = { ...shared, from: 'formula', expected: curve.expected(one.conditions) } as const;
    const printed = curve.published?.get(at);
    const both = [compared(byFormula)];
    return printed === undefined
      ? both
      : [...both, compared({ ...shared, from: 'published', expected: printed })];
  });
}

function chartOf({ title, x, y, measure, curves }: Figure, of: Find): Chart {
  const series = curves.flatMap((curve): Series[] => {
    const measured = curve.cases.flatMap((one) => {
      const summary = of(one)?.measures[measure];
      const at = x.of(one.conditions);
      return summary === undefined
        ? []
        : [{ x: at, y: summary.mean - (curve.offset ?? 0), ci: summary.ci ?? undefined }];
    });
    const theory = curve.cases.map((one) => ({ x: x.of(one.conditions), y: curve.expected(one.conditions) }));
    const printed = [...(curve.published ?? [])].map(([at, value]) => ({ x: at, y: value }));
    return [
      { name: curve.name, points: measured, kind: 'measured' },
      { name: `${curve.name}, from the formula`, points: theory, kind: 'theory' },
      ...(printed.length === 0
        ? []
        : [{ name: `${curve.name}, as published`, points: printed, kind: 'published' } as const]),
    ];
  });
  return { title, x: { label: x.label, isLog: false }, y: { label: y, isLog: false }, series };
}
