import type { Constraint } from '../../src/core/constraint.js';

export const drained: Constraint = {
  kind: 'drained',
  description: 'an operator drained it',
  ends: 'planned',
  canBeForced: true,
  check: ({ node }, { config }) => {
    const drain = Object.hasOwn(config.drained, node) ? config.drained[node] : undefined;
    if (drain === undefined) return null;
    return { strength: 'hard', reason: `it was drained by ${drain.by}: ${drain.reason}` };
  },
};
