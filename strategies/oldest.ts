import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';

/** Selects the eligible node with the oldest seat, as ZooKeeper's own election recipe does. */
export const oldest: Strategy<Record<never, never>> = {
  name: 'oldest',
  description: 'the eligible node with the lowest seat (ZooKeeper’s own recipe)',
  options: strictObject({}),
  rank: ({ candidates }) =>
    candidates
      .toSorted((a, b) => (a.seat ?? Number.POSITIVE_INFINITY) - (b.seat ?? Number.POSITIVE_INFINITY) || 0)
      .map(({ node, seat }, index) => ({
        node,
        grade: 0,
        reason:
          seat === null
            ? 'it has no seat yet'
            : index === 0
              ? `lowest seat of the eligible nodes (seat ${seat})`
              : `seat ${seat}`,
      })),
};
