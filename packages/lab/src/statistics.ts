/** Summarizes the measurements of many runs. */
import * as z from 'zod';

export const summarySchema = z.object({
  mean: z.number(),
  /** Half the width of the mean's 95 % confidence interval, by Student's t. Null if there is only one run. */
  ci: z.number().nullable(),
  least: z.number(),
  most: z.number(),
  /**
   * Number of runs that have a value for this measure. For example, an election that did not end has no
   * `time`.
   */
  runs: z.int(),
});
export type Summary = z.infer<typeof summarySchema>;

export function summarize(values: readonly number[]): Summary {
  const runs = values.length;
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const mean = least === most ? least : values.reduce((sum, value) => sum + value, 0) / runs;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const ci = runs < 2 ? null : studentT(runs - 1, usual) * Math.sqrt(squares / (runs - 1) / runs);
  return { mean, ci, least, most, runs };
}

/** Returns the standard error of the mean. Null for a single run. */
export function standardErrorOf({ ci, runs }: Pick<Summary, 'ci' | 'runs'>): number | null {
  return ci === null ? null : ci / studentT(runs - 1, usual);
}

/**
 * Returns the largest accepted distance between the mean and the expected value. With very many runs, this
 * distance is three standard errors. Returns null for a single run, because one run is not enough.
 */
export function toleranceOf({ ci, runs }: Summary): number | null {
  const standardError = standardErrorOf({ ci, runs });
  return standardError === null ? null : standardError * studentT(runs - 1, threeErrors);
}

/** A quantile of the normal distribution: a share `p` of all values lies below `z`. */
interface Quantile {
  readonly z: number;
  readonly p: number;
}
const usual = { z: 1.959963984540054, p: 0.975 };
const threeErrors = { z: 3, p: 0.9986501019683699 };

/**
 * Returns the quantile of Student's t for the same share `p`. The result is exact for 1 and 2 degrees of
 * freedom. Otherwise, it is the approximation in Abramowitz and Stegun 26.7.5.
 */
export function studentT(freedom: number, { z, p }: Quantile): number {
  if (freedom === 1) return Math.tan(Math.PI * (p - 0.5));
  if (freedom === 2) return (2 * p - 1) / Math.sqrt(2 * p * (1 - p));
  const square = z ** 2;
  const terms = [
    (z * (square + 1)) / 4,
    (z * (5 * square ** 2 + 16 * square + 3)) / 96,
    (z * (3 * square ** 3 + 19 * square ** 2 + 17 * square - 15)) / 384,
    (z * (79 * square ** 4 + 776 * square ** 3 + 1482 * square ** 2 - 1920 * square - 945)) / 92_160,
  ];
  return terms.reduce((sum, term, index) => sum + term / freedom ** (index + 1), z);
}
