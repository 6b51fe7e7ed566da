/** The output of `petrel lab --reproduce`. */
import { type Printable, table } from 'petrel/internals';
import * as z from 'zod';
import { type Compared, comparedSchema, offPercentOf } from '../reproduce/reproduction.js';

/** The output of `petrel lab --reproduce` with `-f json`. */
export const reproductionSchema = z.object({ seed: z.int(), points: z.array(comparedSchema) });

const header = ['figure', 'point', 'from', 'expected', 'measured', 'error', 'off', 'seeds off by'];

export function printableReproduction(seed: number, points: readonly Compared[]): Printable {
  return {
    json: reproductionSchema.parse({ seed, points }),
    pretty: (layout) => table(header, points.map(cells), layout),
    rows: [header, ...points.map(cells)],
  };
}

function cells({ figure, point, from, expected, measured, standardError, ...rest }: Compared): string[] {
  const off = rest.offPercent;
  const share = off === null ? '-' : from === 'bound' ? `${(100 + off).toFixed(0)} % of it` : percent(off);
  return [
    figure,
    point,
    from,
    expected === null ? '-' : number(expected),
    number(measured),
    standardError === null ? '-' : number(standardError),
    share,
    spread(expected, rest),
  ];
}

/** Returns the smallest and the largest deviation over the seeds. */
function spread(expected: number | null, { least, most }: Pick<Compared, 'least' | 'most'>): string {
  const [low, high] = [least, most].map((value) => offPercentOf(value, expected));
  if (least === most || low === undefined || high === undefined || low === null || high === null) return '-';
  return `${percent(low)} to ${percent(high)}`;
}

function percent(value: number): string {
  return `${value.toFixed(1)} %`;
}

/** Returns four significant digits, or all digits before the decimal point if there are more than four. */
function number(value: number): string {
  return String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
}
