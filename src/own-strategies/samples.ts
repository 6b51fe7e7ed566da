/** Groups that a strategy of a user's own is tried on when its options are checked. */
import type { Candidate, StrategyInput } from '../../strategies/index.js';

type Input = Omit<StrategyInput<unknown>, 'options'>;

function sample(candidates: readonly Candidate[], more: Partial<Input> = {}): Input {
  return {
    candidates,
    previous: null,
    peers: candidates.map(({ node, site, scores }) => ({ node, site, scores, roundTripsMs: new Map() })),
    incumbent: null,
    term: 1,
    circumstance: {
      after: 'planned',
      failedSite: null,
      minuteOfDay: 720,
      registered: candidates.length,
      fit: candidates.length,
      flags: [],
    },
    ...more,
  };
}

function candidate(node: string, seat: number | null, priority = 100): Candidate {
  return { node, site: node.slice(0, 1), priority, sitePriority: 100, seat, scores: new Map(), tags: {} };
}

export const samples: readonly Input[] = [
  sample([]),
  sample([candidate('a1', 0)]),
  sample([candidate('a1', 2, 50), candidate('a2', null), candidate('b1', 0)], {
    previous: { node: 'b1', site: 'b' },
    incumbent: 'a2',
    term: 7,
  }),
];
