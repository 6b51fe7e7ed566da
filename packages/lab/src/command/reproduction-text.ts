/** The output of `petrel lab --reproduce`. */
import { type Printable, table } from 'petrel/internals';
import * as z from 'zod';
import { type Compared, comparedSchema } from '../reproduce/reproduction.js';

/** The output of `petrel lab --reproduce` with `-f json`. */
export const reproductionSchema = z.object({ seed: z.int(), points: z.array(comparedSchema) });

const header = ['figure', 'point', 'from', 'expected', 'measured', 'off'];

export function printableReproduction(seed: number, points: readonly Compared[]): Printable {
  return {
    json: reproductionSchema.parse({ seed, points }),
    pretty: (layout) => table(header, points.map(cells), layout),
    rows: [header, ...points.map(cells)],
  };
}

function cells({ figure, point, from, expected, measured, ci, offPercent }: Compared): string[] {
  const interval = ci === null ? '' : ` ±${number(ci)}`;
  const off = from === 'bound' ? `${(100 + offPercent).toFixed(0)} % of it` : `${offPercent.toFixed(1)} %`;
  return [figure, point, from, number(expected), `${number(measured)}${interval}`, off];
}

function number(value: number): string {
  return String(Number(value.toFixed(value < 100 ? 2 : 1)));
}
