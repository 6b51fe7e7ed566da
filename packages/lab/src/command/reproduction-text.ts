/** The output of `petrel lab --reproduce`. */
import { type Printable, table } from 'petrel/internals';
import * as z from 'zod';
import {
  type Compared,
  comparedSchema,
  type Deviations,
  deviationsOf,
  deviationsSchema,
  offPercentOf,
} from '../reproduce/reproduction.js';

/** The output of `petrel lab --reproduce` with `-f json`. */
export const reproductionSchema = z.object({
  seed: z.int(),
  points: z.array(comparedSchema),
  /** Null if no point has a formula and a standard error. */
  deviations: deviationsSchema.nullable(),
});

const header = [
  'figure',
  'point',
  'from',
  'expected',
  'measured',
  'error',
  'in errors',
  'off',
  'seeds off by',
];

export function printableReproduction(seed: number, points: readonly Compared[]): Printable {
  const deviations = deviationsOf(points);
  return {
    json: reproductionSchema.parse({ seed, points, deviations }),
    pretty: (layout) =>
      [
        table(header, points.map(cells), layout),
        ...(deviations === null ? [] : [deviationsText(deviations)]),
      ].join('\n\n'),
    rows: [header, ...points.map(cells)],
  };
}

function deviationsText({ points, rms, farthest, at }: Deviations): string {
  const off = `${points} points deviate from their formulas by ${rms.toFixed(2)} standard errors (root mean square; chance: about 1)`;
  return `${off}, at most by ${farthest.toFixed(1)}: ${at}`;
}

function cells(one: Compared): string[] {
  const { expected, standardError, offErrors } = one;
  return [
    one.figure,
    one.point,
    one.from,
    expected === null ? '-' : number(expected),
    number(one.measured),
    standardError === null ? '-' : number(standardError),
    offErrors === null ? '-' : offErrors.toFixed(1),
    offText(one),
    spread(one),
  ];
}

export function offText({ from, offPercent }: Pick<Compared, 'from' | 'offPercent'>): string {
  if (offPercent === null) return '-';
  return from === 'bound' ? `${(100 + offPercent).toFixed(0)} % of it` : percent(offPercent);
}

/** Returns the smallest and the largest deviation among the seeds. */
function spread({ expected, least, most }: Pick<Compared, 'expected' | 'least' | 'most'>): string {
  const [low, high] = [least, most].map((value) => offPercentOf(value, expected));
  if (least === most || low === undefined || high === undefined || low === null || high === null) return '-';
  return `${percent(low)} to ${percent(high)}`;
}

function percent(value: number): string {
  return `${value.toFixed(1)} %`;
}

/**
 * Formats a number with four significant digits, or with all digits before the decimal point if there are
 * more.
 */
export function number(value: number): string {
  return String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
}
