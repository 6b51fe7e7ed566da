import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';

/**
 * Selects a different node in each term, in the order of node ids. This is the rotating score of Becker et
 * al. (2011). The score is 1 for the node whose index is the term modulo the number of eligible nodes. All
 * other nodes have a score of 0 and are ranked in descending order of node ids. A leader is not replaced
 * merely because the score of another node becomes 1.
 */
export const rotating: Strategy<Record<never, never>> = {
  name: 'rotating',
  description: 'a different eligible node in each term, in order of node id',
  options: strictObject({}),
  rank: ({ candidates, term }) => {
    const turn = candidates[term % candidates.length];
    const others = candidates.filter((candidate) => candidate !== turn).toReversed();
    return [...(turn === undefined ? [] : [turn]), ...others].map(({ node }, index) => ({
      node,
      grade: 0,
      reason:
        index === 0
          ? `it is this node’s turn in term ${term}`
          : `it is the turn of ${turn?.node} in term ${term}`,
      score: index === 0 ? 1 : 0,
    }));
  },
};
