import type { Constraint } from '../../src/core/constraint.js';
import { siteConfig } from '../../src/model/group-config.js';

export const siteDisabled: Constraint = {
  kind: 'site-disabled',
  description: 'an operator disabled its site',
  ends: 'planned',
  canBeForced: true,
  check: ({ registration: { site } }, { config }) => {
    const { enabled, disabled } = siteConfig(config, site);
    if (enabled) return null;
    const by = disabled === null ? '' : ` by ${disabled.by}: ${disabled.reason}`;
    return { strength: 'hard', reason: `site ${site} is disabled${by}` };
  },
};
