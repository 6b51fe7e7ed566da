import type { Candidate } from '../../strategies/index.js';
import type { RankingInput } from '../../strategies/questions.js';

/**
 * A group's first election, at some minute of the day: all who are registered are eligible, and nobody leads.
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
