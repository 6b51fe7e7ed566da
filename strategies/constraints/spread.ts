import type { Constraint } from '../../src/core/constraint.js';

export const spread: Constraint = {
  kind: 'spread',
  description: 'siteRules.spread wants leaders in different sites, and its site has one',
  ends: 'failure',
  canBeForced: true,
  isOfPlace: true,
  check: ({ node, registration: { site } }, { config, elsewhere }) => {
    const { over, strength } = config.siteRules.spread;
    const held = elsewhere.held.get(node);
    if (over === 'any-site' || held === undefined || elsewhere.busy.has(node)) return null;
    const why = strength === 'hard' ? `${held}, and no site may hold two` : `${held} already`;
    return { strength, reason: `site ${site} holds ${why}` };
  },
};
