import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';

/** Selects the node after the previous leader, in circular order of node ids. */
export const roundRobin: Strategy<Record<never, never>> = {
  name: 'round-robin',
  description: 'the next eligible node after the previous leader, in circular order of node id',
  options: strictObject({}),
  rank: ({ candidates, previous }) => {
    const after = previous === null ? [] : candidates.filter(({ node }) => node > previous.node);
    const around = [...after, ...candidates.filter((candidate) => !after.includes(candidate))];
    return around.map(({ node }, index) => ({
      node,
      grade: 0,
      reason:
        previous === null
          ? `number ${index + 1} by node id, because there was no leader before`
          : `number ${index + 1} in turn after ${previous.node}`,
    }));
  },
};
