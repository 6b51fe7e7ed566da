/** The output of `petrel lab`. */
import { type Layout, type Printable, styled, table } from 'petrel/internals';
import * as z from 'zod';
import type { Conditions } from '../conditions.js';
import { type Judged, type Result, resultSchema } from '../experiment.js';
import type { Summary } from '../statistics.js';

/** The output of `petrel lab -f json`. */
export const labSchema = z.object({ seed: z.int(), results: z.array(resultSchema) });

const columns: readonly { readonly title: string; readonly measure: string; readonly digits: number }[] = [
  { title: 'time ms', measure: 'time', digits: 1 },
  { title: 'messages', measure: 'messages', digits: 1 },
  { title: 'deliveries', measure: 'deliveries', digits: 0 },
  { title: 'bytes', measure: 'bytes', digits: 0 },
  { title: 'rounds', measure: 'rounds', digits: 1 },
  { title: 'leaders', measure: 'leaders', digits: 1 },
  { title: 'upkeep/s', measure: 'upkeep', digits: 1 },
];
const caseHeader = ['election', 'nodes', 'loss', 'scenario'];

export function printableLab(seed: number, results: readonly Result[]): Printable {
  return {
    json: labSchema.parse({ seed, results }),
    pretty: (layout) => prettyText(results, layout),
    rows: [
      [...caseHeader, 'runs', 'measure', 'mean', 'ci', 'least', 'most', 'kind', 'expected', 'holds'],
      ...results.flatMap(rowsOf),
    ],
  };
}

function prettyText(results: readonly Result[], layout: Layout): string {
  const header = [...caseHeader, 'agreed', ...columns.map(({ title }) => title), 'disagreement'];
  const parts = [table(header, results.map(measuredRow), layout)];
  const theory = results.flatMap((result) => result.theory.map((one) => theoryRow(result, one)));
  if (theory.length > 0) {
    parts.push(
      styled('bold', 'Measured against theory'),
      table([...caseHeader, 'measure', 'measured', 'expected', 'holds', 'theory'], theory, layout),
    );
  }
  return parts.join('\n\n');
}

function caseCells({ algorithm, conditions }: Result): string[] {
  return [algorithm, String(conditions.nodes), lossText(conditions), conditions.scenario];
}

function lossText({ loss, correlated }: Conditions): string {
  return loss > 0 && correlated ? `${loss} (correlated)` : String(loss);
}

function measuredRow(result: Result): string[] {
  const { measures } = result;
  const share = (measures.agreed?.mean ?? 0) * 100;
  return [
    ...caseCells(result),
    `${share.toFixed(share === 100 || share === 0 ? 0 : 1)} %`,
    ...columns.map(({ measure, digits }) => meanText(measures[measure], digits)),
    `${((measures.disagreement?.mean ?? 1) * 100).toFixed(1)} %`,
  ];
}

function meanText(summary: Summary | undefined, digits: number): string {
  if (summary === undefined) return '-';
  const { mean, ci, least, most } = summary;
  const text = mean.toFixed(digits).replace(/\.0$/, '');
  return ci === null || least === most ? text : `${text} ±${ci.toFixed(digits).replace(/\.0$/, '')}`;
}

function theoryRow(result: Result, { measure, measured, kind, expected, holds, source }: Judged): string[] {
  const bound = kind === 'at most' ? '≤ ' : kind === 'at least' ? '≥ ' : '';
  const seen =
    measured === null
      ? '-'
      : bound === ''
        ? meanText(measured, 2)
        : meanText({ ...measured, mean: kind === 'at most' ? measured.most : measured.least, ci: null }, 2);
  const verdict =
    holds === null
      ? '-'
      : holds
        ? styled('green', 'yes')
        : styled('red', `no${offText(measured, expected, bound)}`);
  return [...caseCells(result), measure, seen, bound + number(expected), verdict, source];
}

function offText(measured: Summary | null, expected: number, bound: string): string {
  if (measured === null || bound !== '' || expected === 0) return '';
  const percent = (100 * (measured.mean - expected)) / expected;
  return `, ${percent > 0 ? '+' : ''}${percent.toFixed(1)} %`;
}

function number(value: number): string {
  return String(Number(value.toFixed(3)));
}

/** Returns one row for each theoretical expectation, and one row for each measure without an expectation. */
function rowsOf(result: Result): string[][] {
  const measured = Object.entries(result.measures).flatMap(([measure, { mean, ci, least, most, runs }]) => {
    const seen = [mean, ci, least, most].map((value) => (value === null ? '' : String(value)));
    const measured = [...caseCells(result), String(runs), measure, ...seen];
    const theory = result.theory.filter((one) => one.measure === measure);
    if (theory.length === 0) return [[...measured, '', '', '']];
    return theory.map((one) => [...measured, ...verdictCells(one)]);
  });
  const unmeasured = result.theory
    .filter(({ measured }) => measured === null)
    .map((one) => [...caseCells(result), '0', one.measure, '', '', '', '', ...verdictCells(one)]);
  return [...measured, ...unmeasured];
}

function verdictCells({ kind, expected, holds }: Judged): string[] {
  return [kind, String(expected), holds === null ? '' : String(holds)];
}
