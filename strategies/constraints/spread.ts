import type { Constraint } from '../../src/core/constraint.js';

export const spread: Constraint = {
  kind: 'spread',
  description: 'siteRules.spread requires leaders in different sites, and its site already has one',
  ends: 'failure',
  canBeForced: true,
  isOfPlace: true,
  check: ({ node, registration: { site } }, { config, elsewhere }) => {
    const { over, strength } = config.siteRules.spread;
    const held = elsewhere.held.get(node);
    if (over === 'any-site' || held === undefined || elsewhere.busy.has(node)) return null;
    const why = strength === 'hard' ? `${held}, and no site may have two leaders` : held;
    return { strength, reason: `site ${site} already has ${why}` };
  },
};
