/**
 * Reproduces elections on rings, and Bully. Plots the messages over the number of nodes, and compares them
 * with closed forms and bounds.
 */
import { mostElectionMessages } from '../algorithms/bully.js';
import { messageBound } from '../algorithms/hirschberg-sinclair.js';
import { fewestMessages, mostMessages } from '../algorithms/lelann-chang-roberts.js';
import type { Chart, Series } from '../chart.js';
import type { Case, Result } from '../experiment.js';
import { type Compared, compared, electionOf, type Plan } from './reproduction.js';

const sizes = [4, 8, 16, 32, 64, 128, 256];

interface Curve {
  readonly name: string;
  readonly measure: string;
  readonly cases: readonly Case[];
  readonly from: Compared['from'];
  expected(n: number): number;
}

interface Figure {
  readonly title: string;
  readonly curves: readonly Curve[];
}

function curve(
  name: string,
  algorithm: string,
  given: Omit<Parameters<typeof electionOf>[1], 'nodes'>,
  rest: Pick<Curve, 'measure' | 'from' | 'expected'>,
): Curve {
  return { name, cases: sizes.map((nodes) => electionOf(algorithm, { ...given, nodes })), ...rest };
}

const election = { measure: 'election messages', from: 'formula' } as const;
const all = { measure: 'messages', from: 'formula' } as const;
const crash = { scenario: 'crash' } as const;

const figures: readonly Figure[] = [
  {
    title: 'LeLann–Chang–Roberts: messages of the election',
    curves: [
      curve('worst order, n(n+1)/2', 'lcr', { order: 'falling' }, { ...election, expected: mostMessages }),
      curve('best order, 2n−1', 'lcr', { order: 'rising' }, { ...election, expected: fewestMessages }),
      curve('highest alone, n', 'lcr', { initiators: 'highest' }, { ...election, expected: (n) => n }),
    ],
  },
  {
    title: 'Hirschberg–Sinclair: all messages, and the bound 8n(log₂ n + 2) + 5n',
    curves: [
      curve('random order', 'hs', {}, { measure: 'messages', from: 'bound', expected: messageBound }),
      curve(
        'falling order',
        'hs',
        { order: 'falling' },
        { measure: 'messages', from: 'bound', expected: messageBound },
      ),
    ],
  },
  {
    title: 'The ring election by attribute, one initiator',
    curves: [
      curve('initiator wins, 2N', 'ring', { initiators: 'highest' }, { ...all, expected: (n) => 2 * n }),
      curve(
        'winner’s successor, 3N−1',
        'ring',
        { initiators: 'after-highest' },
        { ...all, expected: (n) => 3 * n - 1 },
      ),
    ],
  },
  {
    title: 'Bully: messages after the node with the highest id crashes',
    curves: [
      curve(
        'second-highest detects, N−2',
        'bully',
        { ...crash, noticedBy: 'highest' },
        { ...all, expected: (n) => n - 2 },
      ),
      curve(
        'lowest detects, N(N−1)/2 − 1',
        'bully',
        { ...crash, noticedBy: 'lowest' },
        { ...election, expected: mostElectionMessages },
      ),
    ],
  },
];

export const rings: Plan = {
  cases: figures.flatMap(({ curves }) => curves.flatMap(({ cases }) => cases)),
  runs: 5,
  make: (results) => {
    const of = (one: Case) => results.find(({ conditions }) => conditions === one.conditions);
    return {
      charts: figures.map((figure) => chartOf(figure, of)),
      points: figures.flatMap(({ title, curves }) => curves.flatMap((one) => pointsOf(title, one, of))),
    };
  },
};

type Find = (one: Case) => Result | undefined;

function pointsOf(figure: string, { name, measure, cases, from, expected }: Curve, of: Find): Compared[] {
  return cases.flatMap((one) => {
    const summary = of(one)?.measures[measure];
    const { nodes } = one.conditions;
    if (summary === undefined) return [];
    const measured = from === 'bound' ? summary.most : summary.mean;
    const ci = summary.least === summary.most ? null : summary.ci;
    return [
      compared({ figure, point: `${name}, N = ${nodes}`, from, expected: expected(nodes), measured, ci }),
    ];
  });
}

function chartOf({ title, curves }: Figure, of: Find): Chart {
  const series = curves.flatMap(({ name, measure, cases, expected }): Series[] => {
    const measured = cases.flatMap((one) => {
      const mean = of(one)?.measures[measure]?.mean ?? 0;
      return mean > 0 ? [{ x: one.conditions.nodes, y: mean }] : [];
    });
    const theory = cases.map(({ conditions: { nodes } }) => ({ x: nodes, y: expected(nodes) }));
    return [
      { name, points: measured, kind: 'measured' },
      { name: `${name}, theory`, points: theory, kind: 'theory' },
    ];
  });
  return { title, x: { label: 'nodes', isLog: true }, y: { label: 'messages', isLog: true }, series };
}
