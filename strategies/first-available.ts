import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';

/**
 * Selects the first eligible node in the order of node ids. A leader is not replaced when an earlier node
 * appears.
 */
export const firstAvailable: Strategy<Record<never, never>> = {
  name: 'first-available',
  description: 'the first eligible node in order of node id',
  options: strictObject({}),
  rank: ({ candidates }) =>
    candidates.map(({ node }, index) => ({
      node,
      grade: 0,
      reason: index === 0 ? 'first of the eligible nodes by node id' : `number ${index + 1} by node id`,
    })),
};
