import type { Constraint } from '../../src/core/constraint.js';
import { siteConfig } from '../../src/model/group-config.js';

export const siteDrained: Constraint = {
  kind: 'site-drained',
  description: 'an operator drained its site',
  ends: 'planned',
  canBeForced: true,
  check: ({ registration: { site } }, { config }) => {
    const { drained } = siteConfig(config, site);
    if (drained === null) return null;
    return { strength: 'hard', reason: `site ${site} was drained by ${drained.by}: ${drained.reason}` };
  },
};
