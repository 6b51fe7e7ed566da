import type { Candidate, StrategyInput } from '../../strategies/index.js';

export type Input = Omit<StrategyInput<unknown>, 'options'>;

/** A group's first election, at some minute of the day: all who are registered are fit, and nobody leads. */
export function exampleInput(candidates: readonly Candidate[], minuteOfDay: number): Input {
  return {
    candidates,
    previous: null,
    peers: candidates.map(({ node, site, scores }) => ({ node, site, scores, roundTripsMs: new Map() })),
    incumbent: null,
    term: 1,
    circumstance: {
      after: 'planned',
      failedSite: null,
      minuteOfDay,
      registered: candidates.length,
      fit: candidates.length,
      flags: [],
    },
  };
}
