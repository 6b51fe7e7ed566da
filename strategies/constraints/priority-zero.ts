import type { Constraint } from '../../src/core/constraint.js';
import { sitePriority } from '../../src/model/group-config.js';

const zero = { kind: 'priority-zero', ends: 'planned', canBeForced: true } as const;

export const sitePriorityZero: Constraint = {
  ...zero,
  description: 'its site has priority 0',
  check: ({ registration: { site } }, { config, nowMs }) => {
    if (sitePriority(config, site, nowMs) !== 0) return null;
    return { strength: 'hard', reason: `site ${site} has priority 0, so its nodes never lead` };
  },
};

export const nodePriorityZero: Constraint = {
  ...zero,
  description: 'the node has priority 0',
  check: ({ registration: { priority } }) =>
    priority === 0 ? { strength: 'hard', reason: 'the node has priority 0, so it never leads' } : null,
};
