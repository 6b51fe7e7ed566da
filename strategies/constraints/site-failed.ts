import type { Constraint } from '../../src/core/constraint.js';
import { siteConfig } from '../../src/model/group-config.js';

export const siteFailed: Constraint = {
  kind: 'site-failed',
  description: 'its site is marked failed, by an operator or by siteRules.failed',
  ends: 'failure',
  canBeForced: true,
  check: ({ registration: { site } }, { config }) => {
    const declared = siteConfig(config, site).failed;
    if (declared === null) return null;
    // If an operator marked the site as failed, the constraint is always hard, regardless of the rule's
    // strength.
    const strength = declared.byRule ? config.siteRules.failed.strength : 'hard';
    return { strength, reason: `site ${site} was marked failed by ${declared.by}: ${declared.reason}` };
  },
};
