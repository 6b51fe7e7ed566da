import type { Constraint } from '../../src/core/constraint.js';

export const siteNotAllowed: Constraint = {
  kind: 'site-not-allowed',
  description: 'siteRules.only names the sites that may lead, and its site is none of them',
  ends: 'failure',
  canBeForced: true,
  check: ({ registration: { site } }, { config }) => {
    const { sites, strength } = config.siteRules.only;
    if (sites.length === 0 || sites.includes(site)) return null;
    return { strength, reason: `site ${site} is not among ${sites.join(', ')}, which alone may lead` };
  },
};
