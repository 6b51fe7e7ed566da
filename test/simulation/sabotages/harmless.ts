import type { Sabotage } from './sabotage.js';

/** A sabotage that changes no behaviour. */
export const harmless: Sabotage = {
  name: 'harmless',
  rule: 'none',
  in: 'leaseShare',
  find: 'leaseShare = 0.9',
  replace: 'leaseShare = 9 / 10',
};
