import type { Constraint } from '../../src/core/constraint.js';

export const siteNotAllowed: Constraint = {
  kind: 'site-not-allowed',
  description: 'its site is not among the sites that siteRules.only allows to lead',
  ends: 'planned',
  canBeForced: true,
  check: ({ registration: { site } }, { config }) => {
    const { sites, strength } = config.siteRules.only;
    if (sites.length === 0 || sites.includes(site)) return null;
    return { strength, reason: `site ${site} may not lead: the site rule “only” allows ${sites.join(', ')}` };
  },
};
