/** Keeps the table of scores in docs/reports/tables/mutation.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { alignedTable, tableRows } from '../docs/pages.js';
import { percent, type Score } from './report.js';

const page = fileURLToPath(new URL('../../docs/reports/tables/mutation.md', import.meta.url));
/** Only the table comes after this heading. */
const heading = '## Scores\n\n';
const head = ['File', 'Mutants', 'Killed', 'Equivalent', 'Survived', 'Score'];
const sum = 'all';

/** Replaces the rows of these files, and keeps the rows of all other files. */
export function writeTable(scores: readonly Score[]): void {
  const text = readFileSync(page, 'utf8');
  const start = text.indexOf(heading) + heading.length;
  const [, ...before] = tableRows(text.slice(start));
  const rows = new Map(before.map((row) => [row[0] ?? '', row]));
  for (const score of scores) rows.set(`\`${score.file}\``, rowOf(score));
  rows.delete(sum);
  const sorted = [...rows.values()].toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1));
  writeFileSync(page, `${text.slice(0, start)}${alignedTable(head, [...sorted, sumOf(sorted)])}\n`);
}

function rowOf({ file, mutants, killed, equivalent, survivors }: Score): string[] {
  const numbers = [mutants, killed, equivalent, survivors.length].map(String);
  return [`\`${file}\``, ...numbers, percentText({ mutants, killed, equivalent })];
}

function sumOf(rows: readonly (readonly string[])[]): string[] {
  const total = (column: number) => rows.reduce((all, row) => all + Number(row[column]), 0);
  const [mutants, killed, equivalent, survived] = [total(1), total(2), total(3), total(4)];
  const numbers = [mutants, killed, equivalent, survived].map(String);
  return [sum, ...numbers, percentText({ mutants, killed, equivalent })];
}

export function percentText(score: Parameters<typeof percent>[0]): string {
  return `${percent(score).toFixed(1)} %`;
}
