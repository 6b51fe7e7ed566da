import { byReport } from './by-report.js';
import { usualLoad } from './score-options.js';

/** Selects the node that receives the most requests on average: θr of Becker et al. (2011). */
export const request = byReport(
  'request',
  'the node that receives the most client requests, according to its score `requests`',
  usualLoad,
);
