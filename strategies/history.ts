import { byReport } from './by-report.js';
import { usualHistory } from './score-options.js';

/**
 * Selects the node with the most advanced log: θz of Becker et al. (2011). 64-bit positions are compared
 * exactly.
 */
export const history = byReport(
  'history',
  'the node with the most advanced log, according to its score `history`',
  usualHistory,
);
