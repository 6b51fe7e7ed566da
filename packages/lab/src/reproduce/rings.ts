/**
 * Reproduces the message counts of ring elections and of Bully, and compares them with formulas and bounds.
 */
import { mostElectionMessages } from '../algorithms/bully.js';
import { messageBound } from '../algorithms/hirschberg-sinclair.js';
import { fewestMessages, mostMessages } from '../algorithms/lelann-chang-roberts.js';
import { mostBySpeed } from '../algorithms/synchronous-ring.js';
import { type Curve, electionOf, type Figure, meanOf, mostOf, planOf } from './reproduction.js';

const sizes = [4, 8, 16, 32, 64, 128, 256];

function curve(
  name: string,
  algorithm: string,
  given: Omit<Parameters<typeof electionOf>[1], 'nodes'>,
  expected: (n: number) => number,
  rest: Pick<Curve, 'estimate' | 'from'>,
): Curve {
  return {
    name,
    cases: sizes.map((nodes) => electionOf(algorithm, { ...given, nodes })),
    expected: ({ nodes }) => expected(nodes),
    ...rest,
  };
}

const election = { estimate: meanOf('election messages'), from: 'formula' } as const;
const all = { estimate: meanOf('messages'), from: 'formula' } as const;
const bound = { estimate: mostOf('messages'), from: 'bound' } as const;
/** Formulas from the literature that this project has corrected. */
const corrected = { ...election, from: 'derived' } as const;
const crash = { scenario: 'crash' } as const;
const axes = {
  x: { label: 'N', isLog: true, of: ({ nodes }: { nodes: number }) => nodes },
  y: { label: 'messages', isLog: true },
};

const figures: readonly Figure[] = [
  {
    title: 'LeLann–Chang–Roberts: messages of the election',
    ...axes,
    curves: [
      curve('worst order, n(n+1)/2', 'lcr', { order: 'falling' }, mostMessages, election),
      curve('best order, 2n−1', 'lcr', { order: 'rising' }, fewestMessages, corrected),
      curve('highest alone, n', 'lcr', { initiators: 'highest' }, (n) => n, election),
    ],
  },
  {
    title: 'Hirschberg–Sinclair: all messages, and the bound 8n(log₂ n + 2) + 5n',
    ...axes,
    curves: [
      curve('random order', 'hs', {}, messageBound, bound),
      curve('falling order', 'hs', { order: 'falling' }, messageBound, bound),
    ],
  },
  {
    title: 'Synchronous rings: O(n) messages',
    ...axes,
    curves: [
      curve('known size, n', 'sync-ring', {}, (n) => n, { ...all, from: 'derived' }),
      curve('unknown size, 3n−2', 'sync-ring-speeds', {}, mostBySpeed, {
        estimate: mostOf('election messages'),
        from: 'bound',
      }),
    ],
  },
  {
    title: 'The ring election by attribute, one initiator',
    ...axes,
    curves: [
      curve('initiator wins, 2N', 'ring', { initiators: 'highest' }, (n) => 2 * n, all),
      curve('winner’s successor, 3N−1', 'ring', { initiators: 'after-highest' }, (n) => 3 * n - 1, all),
    ],
  },
  {
    title: 'Bully: messages after the node with the highest id crashes',
    ...axes,
    curves: [
      curve('second-highest detects, N−2', 'bully', { ...crash, noticedBy: 'highest' }, (n) => n - 2, all),
      curve(
        'lowest detects, N(N−1)/2 − 1',
        'bully',
        { ...crash, noticedBy: 'lowest' },
        mostElectionMessages,
        corrected,
      ),
    ],
  },
];

export const rings = planOf(1, figures);
