import { type Constraint, kindOfBusy } from '../../src/core/constraint.js';

export const busy: Constraint = {
  kind: kindOfBusy,
  description: 'it leads, or is elected, in another slot of the group',
  ends: 'failure',
  canBeForced: false,
  isOfPlace: true,
  check: ({ node }, { elsewhere }) => {
    const reason = elsewhere.busy.get(node);
    return reason === undefined ? null : { strength: 'hard', reason };
  },
};
