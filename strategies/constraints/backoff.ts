import { failureOf, isInBackoff } from '../../src/core/backoff.js';
import { type Constraint, kindOfBackoff } from '../../src/core/constraint.js';

export const backoff: Constraint = {
  kind: kindOfBackoff,
  description: 'its last takeover failed',
  ends: 'failure',
  // A forced failover ends the backoff instead of overriding it. If backoffs were overridden, a node could
  // fail again and again without a pause.
  canBeForced: false,
  check: ({ node }, { failures, nowMs }) => {
    const failure = failureOf(failures, node);
    if (failure === null || !isInBackoff(failure, nowMs)) return null;
    const times = failure.count === 1 ? '' : ` (${failure.count} failures in a row)`;
    return { strength: 'hard', reason: `it is in backoff until ${failure.until}: ${failure.reason}${times}` };
  },
};
