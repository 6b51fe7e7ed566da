import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';

/**
 * Each term another node, in the order of node ids: the rotating score of Becker et al. (2011). It is 1 for
 * the node whose turn the term is (the term modulo how many are eligible) and 0 for all others, of which the
 * higher id comes first. A turn is no reason to leave a leader.
 */
export const rotating: Strategy<Record<never, never>> = {
  name: 'rotating',
  description: 'another eligible node in each term, in the order of node ids',
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
