import type { Constraint } from '../../src/core/constraint.js';

export const unhealthy: Constraint = {
  kind: 'unhealthy',
  description: 'its health check fails',
  ends: 'failure',
  canBeForced: true,
  check: ({ registration: { health } }) => {
    if (health.ok) return null;
    return { strength: 'hard', reason: `it is unhealthy: ${health.reason ?? 'no reason given'}` };
  },
};
