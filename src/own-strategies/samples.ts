/** Sample groups for trial runs of a user-defined strategy when its options are checked. */
import type { Candidate } from '../../strategies/index.js';
import type { RankingInput } from '../../strategies/questions.js';
import { exampleInput } from './example-input.js';

const noon = 12 * 60;

function candidate(node: string, seat: number | null, priority = 100): Candidate {
  return { node, site: node.slice(0, 1), priority, sitePriority: 100, seat, scores: new Map(), tags: {} };
}

export const samples: readonly RankingInput[] = [
  exampleInput([], noon),
  exampleInput([candidate('a1', 0)], noon),
  {
    ...exampleInput([candidate('a1', 2, 50), candidate('a2', null), candidate('b1', 0)], noon),
    previous: { node: 'b1', site: 'b' },
    incumbent: 'a2',
    term: 7,
  },
];
