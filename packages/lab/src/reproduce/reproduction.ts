/**
 * Reproduces a part of the literature: draws its figures again, and reports the deviation of each point.
 * Every point is measured with several seeds, so that its standard error and its spread are known.
 */
import * as z from 'zod';
import type { Chart, Point, Series } from '../chart.js';
import { type Conditions, conditionsSchema } from '../conditions.js';
import type { Case, RunsOf } from '../experiment.js';
import type { Measures } from '../simulate.js';
import { standardErrorOf, summarize } from '../statistics.js';

/**
 * Number of seeds of each reproduction. The first seed is the given one, and the others are the numbers after
 * it.
 */
export const seedsOfReproduction = 10;

export const comparedSchema = z.object({
  figure: z.string(),
  point: z.string(),
  /**
   * Origin of the expected value.
   * - published: a number that the source prints.
   * - formula: the value of a formula in the source. The source does not print this number.
   * - bound: the value of a formula in the source for an upper bound.
   * - derived: the value of a formula that this project has derived or corrected.
   * - none: no value is expected, and the value is only measured.
   */
  from: z.enum(['published', 'formula', 'bound', 'derived', 'none']),
  expected: z.number().nullable(),
  /** The mean over the seeds. For a bound, the largest value over all runs. */
  measured: z.number(),
  /** Standard error of the measured value. Null if the value does not vary. */
  standardError: z.number().nullable(),
  /** Number of seeds, followed by the smallest and the largest value of a seed. */
  seeds: z.int(),
  least: z.number(),
  most: z.number(),
  /**
   * Deviation from the expected value, in percent. For a bound, this is the share of the bound that is used,
   * in percent, minus 100. Null if nothing or zero is expected.
   */
  offPercent: z.number().nullable(),
});
export type Compared = z.infer<typeof comparedSchema>;

export interface Reproduction {
  readonly charts: readonly Chart[];
  readonly points: readonly Compared[];
}

/** The runs that a reproduction needs, and the function that creates the reproduction from them. */
export interface Plan {
  readonly cases: readonly Case[];
  /** Number of runs of each case, for each seed. */
  readonly runs: number;
  make(runsOf: RunsOf, seeds: readonly number[]): Reproduction;
}

/** Returns a value computed from the runs of one seed. NaN if these runs give no value. */
export type Estimate = (runs: readonly Measures[], given: Conditions) => number;

export interface Curve {
  readonly name: string;
  readonly cases: readonly Case[];
  readonly estimate: Estimate;
  readonly from: Compared['from'];
  /** Returns the expected value. Not called if `from` is `none`. */
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

/** Estimates the mean of a measure over those runs that have a value for it. */
export function meanOf(
  measure: string,
  change: (value: number, given: Conditions) => number = same,
): Estimate {
  return (runs, given) => {
    const values = valuesOf(runs, measure);
    return values.length === 0 ? Number.NaN : change(summarize(values).mean, given);
  };
}

/** Estimates the largest value of a measure. */
export function mostOf(measure: string): Estimate {
  return (runs) => {
    const values = valuesOf(runs, measure);
    return values.length === 0 ? Number.NaN : Math.max(...values);
  };
}

function same(value: number): number {
  return value;
}

function valuesOf(runs: readonly Measures[], measure: string): number[] {
  return runs.flatMap((run) => run[measure] ?? []);
}

/** Returns the plan that reproduces these figures. */
export function planOf(runs: number, figures: readonly Figure[]): Plan {
  return {
    cases: [...new Set(figures.flatMap(({ curves }) => curves.flatMap(({ cases }) => cases)))],
    runs,
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

interface MeasuredCurve {
  readonly curve: Curve;
  readonly points: readonly { readonly x: number; readonly compared: Compared }[];
}

function measuredCurves(
  { title, x, curves }: Figure,
  runsOf: RunsOf,
  seeds: readonly number[],
): MeasuredCurve[] {
  return curves.map((curve) => {
    const points = curve.cases.flatMap((one) => {
      const at = x.of(one.conditions);
      const values = seeds
        .map((seed) => curve.estimate(runsOf(one, seed), one.conditions))
        .filter((value) => !Number.isNaN(value));
      if (values.length === 0) return [];
      const point = `${curve.name}, ${x.label} = ${at}`;
      const expected = curve.expected?.(one.conditions) ?? null;
      return [{ x: at, compared: compared({ figure: title, point, from: curve.from, expected }, values) }];
    });
    return { curve, points };
  });
}

/** Compares the expected value of a point with the values that the seeds gave. */
export function compared(
  point: Pick<Compared, 'figure' | 'point' | 'from' | 'expected'>,
  values: readonly number[],
): Compared {
  const summary = summarize(values);
  const { least, most, runs: seeds } = summary;
  const measured = point.from === 'bound' ? most : summary.mean;
  const offPercent = offPercentOf(measured, point.expected);
  const standardError = least === most ? null : standardErrorOf(summary);
  return { ...point, measured, standardError, seeds, least, most, offPercent };
}

export function offPercentOf(measured: number, expected: number | null): number | null {
  return expected === null || expected === 0 ? null : (100 * (measured - expected)) / expected;
}

const origins: Readonly<Record<Compared['from'], string>> = {
  published: 'as published',
  formula: 'from the formula',
  bound: 'upper bound',
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
