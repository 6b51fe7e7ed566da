/** Reproduces E. Schooler's chapter on leader election, with Δ = 0.1 s and TA = TS = 1 s. */
import { meanWaitMs, reestablishMs } from '../algorithms/announce-listen-theory.js';
import { attemptsUntilAllHear, lostInRow } from '../algorithms/loss-theory.js';
import { suppressionMessages } from '../algorithms/suppression-theory.js';
import { type Curve, electionOf, type Figure, meanOf, overLoss, overNodes, planOf } from './reproduction.js';

const delayMs = 100;
const delay = { kind: 'constant', ms: delayMs } as const;
const sizes = [2, 5, 10, 20, 50, 100];
const losses = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
const kinds = [
  { name: 'le-a', waits: false, prefers: 'highest' },
  { name: 'le-s', waits: true, prefers: 'highest' },
  { name: 'le-m', waits: true, prefers: 'earliest' },
] as const;
const ms = { label: 'ms' };
/** Estimates the instant at which the converging message was sent. The chapter's plots leave out Δ. */
const sentMs = meanOf('time', (time) => time - delayMs);

const figures: readonly Figure[] = [
  {
    title: 'Announcements while nodes wait',
    x: overNodes,
    y: { label: 'messages' },
    curves: [0, 0.4].map((loss) => ({
      name: loss === 0 ? 'LE-S' : `LE-S, correlated loss ${loss}`,
      cases: sizes.map((nodes) => electionOf('le-s', { nodes, delay, loss, correlated: loss > 0 })),
      estimate: meanOf('suppression messages'),
      // One of the chapter's printed formulas for loss leaves out a factor.
      from: loss === 0 ? 'formula' : 'derived',
      expected: ({ nodes }) => suppressionMessages(nodes, delayMs, 1000, loss),
    })),
  },
  {
    title: 'Leadership delay, without loss',
    x: overNodes,
    y: ms,
    curves: kinds.map((kind) => ({
      name: kind.name.toUpperCase(),
      cases: sizes.map((nodes) => electionOf(kind.name, { nodes, delay })),
      estimate: meanOf('time'),
      from: 'formula',
      expected: (given) => meanWaitMs(kind, given.nodes, given) + delayMs,
    })),
  },
  {
    title: 'Time of the converging message (without Δ), correlated loss, 20 nodes',
    x: overLoss,
    y: ms,
    curves: [
      {
        name: 'LE-S',
        cases: losses.map((loss) => electionOf('le-s', { nodes: 20, delay, loss, correlated: true })),
        estimate: sentMs,
        from: 'formula',
        expected: ({ loss }) => 500 + 1000 * lostInRow(loss),
      },
    ],
  },
  {
    title: 'Time of the converging message (without Δ), uncorrelated loss 0.4',
    x: overNodes,
    y: ms,
    curves: [
      {
        name: 'LE-S',
        cases: sizes.map((nodes) => electionOf('le-s', { nodes, delay, loss: 0.4 })),
        estimate: sentMs,
        // The chapter prints A instead of A−1, and N instead of N−1.
        from: 'derived',
        expected: ({ nodes }) => 500 + 1000 * (attemptsUntilAllHear(nodes - 1, 0.4) - 1),
      },
    ],
  },
  {
    title:
      'Time from the leader’s crash to agreement on the next leader, correlated loss, 20 nodes, TL = 8 s',
    x: overLoss,
    y: ms,
    curves: kinds
      .filter(({ prefers }) => prefers === 'highest')
      .map((kind): Curve => {
        const shared = { nodes: 20, delay, correlated: true, scenario: 'crash', listenMs: 8000 } as const;
        return {
          name: kind.name.toUpperCase(),
          cases: losses.slice(0, 5).map((loss) => electionOf(kind.name, { ...shared, loss })),
          estimate: meanOf('time'),
          from: 'formula',
          expected: (given) => reestablishMs(kind, given),
        };
      }),
  },
];

export const chapter5 = planOf(40, figures);
