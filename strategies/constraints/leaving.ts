import type { Constraint } from '../../src/core/constraint.js';

export const leaving: Constraint = {
  kind: 'leaving',
  description: 'it is shutting down',
  ends: 'shutdown',
  canBeForced: true,
  check: ({ registration }) =>
    registration.draining ? { strength: 'hard', reason: 'it is shutting down' } : null,
};
