import type { Candidate } from '../../strategies/index.js';
import type { RankingInput } from '../../strategies/questions.js';

/**
 * Returns the input for a group's first election at the given minute of the day. All registered nodes are
 * eligible, and none is the leader.
 */
export function exampleInput(candidates: readonly Candidate[], minuteOfDay: number): RankingInput {
  return {
    candidates,
    previous: null,
    peers: candidates.map(({ node, site, scores }) => ({ node, site, scores, roundTripsMs: new Map() })),
    incumbent: null,
    term: 1,
    conditions: {
      after: 'planned',
      failedSite: null,
      minuteOfDay,
      registered: candidates.length,
      eligible: candidates.length,
      flags: [],
    },
  };
}
