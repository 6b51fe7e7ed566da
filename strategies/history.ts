import { byReport } from './by-report.js';
import { usualHistory } from './score-options.js';

/**
 * The node whose log has come farthest: θz of Becker et al. (2011). Positions of 64 bits are compared
 * exactly.
 */
export const history = byReport(
  'history',
  'the node with the most advanced log, according to its score `history`',
  usualHistory,
);
