/**
 * Reproduces a part of the literature: draws its figures again, and reports the deviation of each point. Each
 * point is measured with several seeds. All runs of all seeds are independent, so the standard error is
 * computed from all runs. The means of the ten seeds alone would give only a rough estimate.
 */
import * as z from 'zod';
import type { Chart, Point, Series } from '../chart.js';
import { type Conditions, conditionsSchema } from '../conditions.js';
import type { Case, RunsOf } from '../experiment.js';
import type { Measures } from '../simulate.js';
import { standardErrorOf, summarize } from '../statistics.js';

/** Number of seeds in each reproduction. They are the given seed and the numbers that follow it. */
export const seedsOfReproduction = 10;

export const comparedSchema = z.object({
  figure: z.string(),
  point: z.string(),
  /**
   * Origin of the expected value.
   * - published: a number that the source prints.
   * - implied: a number that the source gives only in relation to a printed one, for example as half of it.
   * - formula: a value computed with a formula from the source. The source does not print this value.
   * - bound: like `formula`, but the value is an upper bound.
   * - refuted: a value computed with a formula from the source. Measurements contradict this formula.
   * - derived: a value computed with a formula that this project derived or corrected.
   * - none: no value is expected. The value is only measured.
   */
  from: z.enum(['published', 'implied', 'formula', 'bound', 'refuted', 'derived', 'none']),
  expected: z.number().nullable(),
  /** The mean over all runs. For a bound, the largest value of any run. */
  measured: z.number(),
  /** Number of runs that have a value, over all seeds. */
  runs: z.int(),
  /**
   * Standard error of the mean. Null if all runs have the same value, or if `measured` is the largest value.
   */
  standardError: z.number().nullable(),
  /** Number of seeds, and the smallest and the largest value that a seed gave. */
  seeds: z.int(),
  least: z.number(),
  most: z.number(),
  /**
   * Deviation from the expected value, in percent. For a bound, this is the measured value as a percentage of
   * the bound, minus 100. Null if the expected value is missing or 0.
   */
  offPercent: z.number().nullable(),
  /** Deviation from a formula, in standard errors. Null if there is no formula or no standard error. */
  offErrors: z.number().nullable(),
});
export type Compared = z.infer<typeof comparedSchema>;
export type Expected = Pick<Compared, 'figure' | 'point' | 'from' | 'expected'>;

/** Summarizes the deviations of points that have a formula and a standard error. */
export const deviationsSchema = z.object({
  points: z.int(),
  /** Root mean square of the deviations, in standard errors. Chance alone gives about 1. */
  rms: z.number(),
  /** The largest deviation, in standard errors, and its point. */
  farthest: z.number(),
  at: z.string(),
});
export type Deviations = z.infer<typeof deviationsSchema>;

export interface Reproduction {
  readonly charts: readonly Chart[];
  readonly points: readonly Compared[];
}

/** The runs that a reproduction needs, and the function that builds the reproduction from these runs. */
export interface Plan {
  readonly cases: readonly Case[];
  /** Number of runs of each case, for each seed. */
  readonly runs: number;
  /** Returns all points with their expected values. Requires no measurement. */
  expected(): Expected[];
  make(runsOf: RunsOf, seeds: readonly number[]): Reproduction;
}

/** Method that estimates a value from runs. */
export interface Estimate {
  readonly by: 'mean' | 'most';
  /** Returns the value of one run. Returns undefined if the run has none. */
  of(run: Measures, given: Conditions): number | undefined;
}

export interface Curve {
  readonly name: string;
  readonly cases: readonly Case[];
  readonly estimate: Estimate;
  readonly from: Compared['from'];
  /** Returns the expected value. Missing if no value is expected. */
  readonly expected?: (given: Conditions) => number;
}

export interface Figure {
  readonly title: string;
  readonly x: {
    readonly label: string;
    readonly isLog?: boolean;
    readonly of: (given: Conditions) => number;
  };
  readonly y: { readonly label: string; readonly isLog?: boolean };
  readonly curves: readonly Curve[];
}

export const overNodes = { label: 'N', of: ({ nodes }: Conditions) => nodes };
export const overLoss = { label: 'l', of: ({ loss }: Conditions) => loss };

export function electionOf(algorithm: string, given: z.input<typeof conditionsSchema>): Case {
  return { algorithm, conditions: conditionsSchema.parse(given) };
}

/** Estimates the mean of a measure over the runs that have this measure. */
export function meanOf(
  measure: string,
  change: (value: number, given: Conditions) => number = (value) => value,
): Estimate {
  const of: Estimate['of'] = (run, given) => {
    const value = run[measure];
    return value === undefined ? undefined : change(value, given);
  };
  return { by: 'mean', of };
}

/** Estimates the largest value of a measure. */
export function mostOf(measure: string): Estimate {
  return { by: 'most', of: (run) => run[measure] };
}

/** Returns the plan that reproduces these figures. */
export function planOf(runs: number, figures: readonly Figure[]): Plan {
  return {
    cases: [...new Set(figures.flatMap(({ curves }) => curves.flatMap(({ cases }) => cases)))],
    runs,
    expected: () =>
      figures.flatMap((figure) =>
        figure.curves.flatMap((curve) => curve.cases.map((one) => expectedOf(figure, curve, one))),
      ),
    make: (ofCase, seeds) => {
      const measured = figures.map((figure) => ({ figure, curves: measuredCurves(figure, ofCase, seeds) }));
      return {
        charts: measured.map(({ figure, curves }) => chartOf(figure, curves)),
        points: measured.flatMap(({ curves }) =>
          curves.flatMap(({ points }) => points.map((one) => one.compared)),
        ),
      };
    },
  };
}

function expectedOf({ title, x }: Figure, { name, from, expected }: Curve, { conditions }: Case): Expected {
  const point = `${name}, ${x.label} = ${x.of(conditions)}`;
  return { figure: title, point, from, expected: expected?.(conditions) ?? null };
}

interface MeasuredCurve {
  readonly curve: Curve;
  readonly points: readonly { readonly x: number; readonly compared: Compared }[];
}

function measuredCurves(figure: Figure, runsOf: RunsOf, seeds: readonly number[]): MeasuredCurve[] {
  return figure.curves.map((curve) => {
    const { by, of } = curve.estimate;
    const points = curve.cases.flatMap((one) => {
      const ofSeeds = seeds.map((seed) => runsOf(one, seed).flatMap((run) => of(run, one.conditions) ?? []));
      if (ofSeeds.every((values) => values.length === 0)) return [];
      const x = figure.x.of(one.conditions);
      return [{ x, compared: compared(expectedOf(figure, curve, one), ofSeeds, by) }];
    });
    return { curve, points };
  });
}

/**
 * Compares the expected value of a point with the measured values. `ofSeeds` contains the values of the runs,
 * by seed.
 */
export function compared(
  expected: Expected,
  ofSeeds: readonly (readonly number[])[],
  by: Estimate['by'] = 'mean',
): Compared {
  const summaryOf = (values: readonly number[]) => summarize(values)[by];
  const ofSeed = summarize(ofSeeds.filter(({ length }) => length > 0).map(summaryOf));
  const all = summarize(ofSeeds.flat());
  const measured = all[by];
  const standardError = by === 'most' || all.least === all.most ? null : standardErrorOf(all);
  return {
    ...expected,
    measured,
    runs: all.runs,
    standardError,
    seeds: ofSeed.runs,
    least: ofSeed.least,
    most: ofSeed.most,
    offPercent: offPercentOf(measured, expected.expected),
    offErrors: offErrorsOf(expected, measured, standardError),
  };
}

export function offPercentOf(measured: number, expected: number | null): number | null {
  return expected === null || expected === 0 ? null : (100 * (measured - expected)) / expected;
}

const formulas: readonly Compared['from'][] = ['formula', 'refuted', 'derived'];

function offErrorsOf(
  { from, expected }: Expected,
  measured: number,
  standardError: number | null,
): number | null {
  if (expected === null || standardError === null || !formulas.includes(from)) return null;
  return (measured - expected) / standardError;
}

/** Summarizes the deviations from formulas. Returns null if no point has such a deviation. */
export function deviationsOf(points: readonly Compared[]): Deviations | null {
  const off = points.flatMap(({ figure, point, from, offErrors }) =>
    offErrors === null || from === 'refuted' ? [] : [{ at: `${figure}: ${point}`, offErrors }],
  );
  const [farthest] = off.toSorted((a, b) => Math.abs(b.offErrors) - Math.abs(a.offErrors));
  if (farthest === undefined) return null;
  const rms = Math.sqrt(off.reduce((sum, { offErrors }) => sum + offErrors ** 2, 0) / off.length);
  return { points: off.length, rms, farthest: farthest.offErrors, at: farthest.at };
}

const origins: Readonly<Record<Compared['from'], string>> = {
  published: 'as published',
  implied: 'as published',
  formula: 'from the formula',
  bound: 'upper bound',
  refuted: 'from the formula, refuted',
  derived: 'derived here',
  none: '',
};

function chartOf({ title, x, y }: Figure, curves: readonly MeasuredCurve[]): Chart {
  const series = curves.flatMap(({ curve, points }): Series[] => {
    const measured = points.map(({ x: at, compared: { measured: value, standardError } }): Point => {
      return { x: at, y: value, ...(standardError === null ? {} : { ci: 2 * standardError }) };
    });
    const expected = points.flatMap(({ x: at, compared: { expected: value } }) =>
      value === null ? [] : [{ x: at, y: value }],
    );
    const theory = {
      name: `${curve.name}, ${origins[curve.from]}`,
      points: expected,
      kind: 'theory',
    } as const;
    return [
      { name: curve.name, points: measured, kind: 'measured' },
      ...(expected.length === 0 ? [] : [theory]),
    ];
  });
  const axis = ({ label, isLog = false }: { label: string; isLog?: boolean }) => ({ label, isLog });
  return { title, x: axis(x), y: axis(y), series };
}
