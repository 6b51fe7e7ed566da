/**
 * Announce–listen beyond the leadership delay: suppression, loss, late joiners, departures. Δ = 0.1 s and TA
 * = TS = 1 s. The available sources state only a few of the formulas. The other formulas are derived.
 */
import { byeMs, joinMs, meanWaitMs, queryMs, reestablishMs } from '../algorithms/announce-listen-theory.js';
import { uncorrelatedDepartureMs } from '../algorithms/departure-theory.js';
import {
  attemptsUntilAllHear,
  averageRounds,
  falseDeparturesPerS,
  heardShares,
  inconsistentShare,
  lostInRow,
} from '../algorithms/loss-theory.js';
import { messagesUntilFirst, suppressionMessages } from '../algorithms/suppression-theory.js';
import type { Conditions } from '../conditions.js';
import {
  type Curve,
  type Estimate,
  electionOf,
  type Figure,
  meanOf,
  overLoss,
  overNodes,
  planOf,
} from './reproduction.js';

const delayMs = 100;
const delay = { kind: 'constant', ms: delayMs } as const;
const ms = { label: 'ms' };
const losses = [0, 0.2, 0.4];
const sizes = [2, 5, 10, 20, 50];
const kinds = [
  { name: 'le-a', waits: false, prefers: 'highest' },
  { name: 'le-s', waits: true, prefers: 'highest' },
  { name: 'le-m', waits: true, prefers: 'earliest' },
] as const;
const [leA, leS, leM] = kinds;
const lossKinds = [
  { name: 'correlated loss', correlated: true },
  { name: 'uncorrelated loss', correlated: false },
];
const time = meanOf('time');

const overRate = { label: 'rate', of: ({ suppressRate }: Conditions) => suppressRate };
const rates = [-5, -2, 0, 2, 5, 10];

export const suppression = planOf(30, [
  {
    title: 'Announcements while nodes wait, exponential waits, 50 nodes',
    x: overRate,
    y: { label: 'messages' },
    curves: [0, 0.4].map((loss) => ({
      name: loss === 0 ? 'LE-S' : `LE-S, correlated loss ${loss}`,
      cases: rates.map((suppressRate) =>
        electionOf('le-s', { nodes: 50, delay, suppressRate, loss, correlated: loss > 0 }),
      ),
      estimate: meanOf('suppression messages'),
      from: 'derived',
      expected: ({ nodes, suppressRate }) => suppressionMessages(nodes, delayMs, 1000, loss, suppressRate),
    })),
  },
  {
    title: 'Leadership delay, exponential waits, 50 nodes',
    x: overRate,
    y: ms,
    curves: [leS, leM].map((kind) => ({
      name: kind.name.toUpperCase(),
      cases: rates.map((suppressRate) => electionOf(kind.name, { nodes: 50, delay, suppressRate })),
      estimate: time,
      from: 'derived',
      expected: (given) => meanWaitMs(kind, given.nodes, given) + delayMs,
    })),
  },
  {
    title: 'Suppress-then-Query: queries while no node leads',
    x: overNodes,
    y: { label: 'queries' },
    curves: [
      {
        name: 'uniform waits',
        cases: sizes.map((nodes) => electionOf('le-s-then-query', { nodes, delay })),
        estimate: meanOf('queries'),
        from: 'derived',
        expected: ({ nodes }) => messagesUntilFirst(nodes, delayMs, 1000),
      },
    ],
  },
]);

/** Estimates the share of runs in which exactly `heard` receivers have heard the leader. */
function shareOf(heard: number): Estimate {
  return { by: 'mean', of: ({ followers }) => (followers === heard ? 1 : 0) };
}

const few = 4;
/** These runs end just after the r-th announcement has arrived. */
const untilRound = [1, 2, 3, 4].map((round) => {
  const limitMs = (round - 1) * 1000 + delayMs + 1;
  return electionOf('le-a', { nodes: few + 1, delay, loss: 0.4, limitMs, observeMs: 1 });
});
const untilAll = sizes.map((nodes) => electionOf('le-a', { nodes, delay, loss: 0.4, observeMs: 1 }));

export const rounds = planOf(100, [
  {
    title: `Q(i, ${few}, r): ${few} receivers, loss 0.4`,
    x: { label: 'r', of: ({ limitMs }) => Math.floor(limitMs / 1000) + 1 },
    y: { label: 'share of runs' },
    curves: Array.from({ length: few + 1 }, (_, heard) => ({
      name: `i = ${heard}`,
      cases: untilRound,
      estimate: shareOf(heard),
      from: 'derived',
      expected: ({ limitMs }) => heardShares(few, Math.floor(limitMs / 1000) + 1, 0.4)[heard] ?? 0,
    })),
  },
  {
    title: 'Rounds until all have heard from the leader, loss 0.4',
    x: overNodes,
    y: { label: 'rounds' },
    curves: [
      { name: 'avg_rounds, from Q', from: 'derived', expected: averageRounds } as const,
      { name: 'A', from: 'formula', expected: attemptsUntilAllHear } as const,
    ].map(({ name, from, expected }) => ({
      name,
      cases: untilAll,
      estimate: meanOf('time', (value) => (value - delayMs) / 1000 + 1),
      from,
      expected: ({ nodes }) => expected(nodes - 1, 0.4),
    })),
  },
]);

/** TL is so long that no node gives up the leader. Only the joiner's own delay is therefore measured. */
const join = { nodes: 20, delay, scenario: 'join', listenMs: 10_000, observeMs: 1 } as const;

export const joiners = planOf(100, [
  ...(['highest', 'lowest'] as const).map(
    (joiner): Figure => ({
      title: `A late joiner with the ${joiner} number, 20 nodes`,
      x: overLoss,
      y: ms,
      curves: lossKinds.flatMap(({ name, correlated }) =>
        [leA, leS].map(
          (kind): Curve => ({
            name: `${kind.name.toUpperCase()}, ${name}`,
            cases: losses.map((loss) => electionOf(kind.name, { ...join, joiner, loss, correlated })),
            estimate: time,
            from: 'derived',
            expected: (given) => joinMs(kind, given),
          }),
        ),
      ),
    }),
  ),
  {
    title: 'A late joiner that has the lowest number and asks, without loss',
    x: overNodes,
    y: ms,
    curves: [
      { name: 'Query', election: 'le-s-query', waits: false },
      { name: 'Suppress-then-Query', election: 'le-s-then-query', waits: true },
    ].map(({ name, election, waits }) => ({
      name,
      cases: sizes.map((nodes) => electionOf(election, { ...join, nodes, joiner: 'lowest' })),
      estimate: time,
      from: 'derived',
      expected: (given) => queryMs(given, waits),
    })),
  },
]);

const leave = { nodes: 20, delay, listenMs: 8000, observeMs: 1 } as const;
const overByes = { label: 'Byes', of: ({ byes }: Conditions) => byes };

function leaves(correlated: boolean, loss: number): Curve[] {
  const name = `${correlated ? 'correlated' : 'uncorrelated'} loss ${loss}`;
  const shared = { ...leave, loss, correlated } as const;
  return [
    {
      name,
      cases: [1, 2, 3, 5].map((byes) => electionOf('le-s-bye', { ...shared, scenario: 'bye', byes })),
      estimate: time,
      from: 'derived',
      expected: (given) =>
        correlated ? byeMs(leS, given) : uncorrelatedDepartureMs(leS.waits, given, given.byes),
    },
    {
      name: `crash, ${name}`,
      cases: [electionOf('le-s-bye', { ...shared, scenario: 'crash' })],
      estimate: time,
      from: correlated ? 'formula' : 'derived',
      expected: (given) =>
        correlated ? reestablishMs(leS, given) : uncorrelatedDepartureMs(leS.waits, given, 0),
    },
  ];
}

/** The nodes are observed for 300 announcements after they have agreed. */
const calm = { nodes: 20, delay, observeMs: 300_000 } as const;
const overListen = { label: 'TL/TA', of: ({ listenMs }: Conditions) => (listenMs ?? 0) / 1000 };
const listens = [2000, 3000, 3500, 4000, 6000];

const observations = lossKinds.flatMap(({ name, correlated }) =>
  [leA, leS].map((kind) => ({
    name: `${kind.name.toUpperCase()}, ${name}`,
    cases: listens.map((listenMs) => electionOf(kind.name, { ...calm, loss: 0.4, correlated, listenMs })),
  })),
);

function observed(estimate: Estimate, expected: (given: Conditions) => number): Curve[] {
  return observations.map((one) => ({ ...one, estimate, expected, from: 'derived' }));
}

const claimed = [0.2, 0.4, 0.6].map((loss) =>
  electionOf('le-a', { ...calm, nodes: 2, loss, listenMs: 1000 * (1 + lostInRow(loss)) }),
);

export const departures = planOf(30, [
  {
    title: 'False departures per second, 20 nodes, loss 0.4',
    x: overListen,
    y: { label: 'per second' },
    curves: observed(meanOf('departures'), falseDeparturesPerS),
  },
  {
    title: 'Share of time in an inconsistent state, 20 nodes, loss 0.4',
    x: overListen,
    y: { label: 'share' },
    curves: observed(meanOf('inconsistent'), inconsistentShare),
  },
  {
    title: 'False departures per second although TL > TA·E[lost], 2 nodes, TL = TA·(1 + E[lost])',
    x: overLoss,
    y: { label: 'per second' },
    curves: [
      { name: 'the chapter: none', from: 'refuted', expected: () => 0 } as const,
      { name: '(1−l)·l^K per TA', from: 'derived', expected: falseDeparturesPerS } as const,
    ].map((rest) => ({
      cases: claimed,
      estimate: meanOf('departures'),
      ...rest,
    })),
  },
  {
    title: 'Time from the leader’s Byes to agreement on the next leader, 20 nodes, TL = 8 s',
    x: overByes,
    y: ms,
    curves: [...leaves(true, 0.3), ...leaves(false, 0.3)],
  },
]);
