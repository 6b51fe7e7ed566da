import type { Sabotage } from './sabotage.js';

/** Changes nothing. */
export const harmless: Sabotage = {
  name: 'harmless',
  rule: 'none',
  in: 'leaseShare',
  find: 'leaseShare = 0.9',
  replace: 'leaseShare = 9 / 10',
};
