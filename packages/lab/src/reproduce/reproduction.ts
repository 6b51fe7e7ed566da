/** A part of the literature run again: its figures redrawn, and how far off each point is. */
import * as z from 'zod';
import type { Chart } from '../chart.js';
import { conditionsSchema } from '../conditions.js';
import type { Case, Result } from '../experiment.js';

export const comparedSchema = z.object({
  figure: z.string(),
  point: z.string(),
  /** published: a number that the source prints; formula: one that follows from a formula of it. */
  from: z.enum(['published', 'formula', 'bound']),
  expected: z.number(),
  measured: z.number(),
  /** Half of the confidence interval of what was measured; null where it does not vary. */
  ci: z.number().nullable(),
  /** Of what was expected, in percent; of a bound, how much of it was used, less 100. */
  offPercent: z.number(),
});
export type Compared = z.infer<typeof comparedSchema>;

export interface Reproduction {
  readonly charts: readonly Chart[];
  readonly points: readonly Compared[];
}

/** What is to be run for it, and what is made of that. */
export interface Plan {
  readonly cases: readonly Case[];
  readonly runs: number;
  make(results: readonly Result[], seed: number): Reproduction;
}

export function electionOf(algorithm: string, given: z.input<typeof conditionsSchema>): Case {
  return { algorithm, conditions: conditionsSchema.parse(given) };
}

export function compared(
  point: Pick<Compared, 'figure' | 'point' | 'from' | 'expected' | 'measured'> & { ci?: number | null },
): Compared {
  const offPercent = (100 * (point.measured - point.expected)) / point.expected;
  return { ...point, ci: point.ci ?? null, offPercent };
}
