/** Reproduces a part of the literature: draws its figures again, and reports the deviation of each point. */
import * as z from 'zod';
import type { Chart } from '../chart.js';
import { conditionsSchema } from '../conditions.js';
import type { Case, Result } from '../experiment.js';

export const comparedSchema = z.object({
  figure: z.string(),
  point: z.string(),
  /**
   * Origin of the expected value. `published` is a number that the source prints. `formula` and `bound` are
   * numbers that follow from its formulas.
   */
  from: z.enum(['published', 'formula', 'bound']),
  expected: z.number(),
  measured: z.number(),
  /** Half-width of the confidence interval of the measured value. Null if the value does not vary. */
  ci: z.number().nullable(),
  /**
   * Deviation from the expected value, in percent. For a bound, this is the used share of the bound in
   * percent, minus 100.
   */
  offPercent: z.number(),
});
export type Compared = z.infer<typeof comparedSchema>;

export interface Reproduction {
  readonly charts: readonly Chart[];
  readonly points: readonly Compared[];
}

/** The runs that a reproduction needs, and the function that builds it from their results. */
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
