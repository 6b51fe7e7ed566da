import type { Sabotage } from './sabotage.js';

/** Changes nothing. */
export const harmless: Sabotage = {
  name: 'harmless',
  rule: 'none',
  file: 'src/core/lease.ts',
  find: 'const leaseShare = 0.9;',
  replace: 'const leaseShare = 9 / 10;',
};
