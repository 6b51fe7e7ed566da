import { strictObject } from '../src/model/names.js';
import type { Candidate, Strategy } from '../src/model/strategy.js';
import { gradeBy, lowerIdFirst } from './grade.js';

/**
 * Selects the site with the highest priority. Within that site, selects the node with the highest priority.
 */
export const sitePriority: Strategy<Record<never, never>> = {
  name: 'site-priority',
  description: 'the node with the highest site priority, then the highest node priority (0 never leads)',
  options: strictObject({}),
  rank: ({ candidates }) =>
    gradeBy(candidates, compare).map(({ candidate, grade }) => ({
      node: candidate.node,
      grade,
      tie: lowerIdFirst,
      reason: `site ${candidate.site} has priority ${candidate.sitePriority}, the node has priority ${candidate.priority}`,
    })),
};

function compare(a: Candidate, b: Candidate): number {
  return b.sitePriority - a.sitePriority || b.priority - a.priority;
}
