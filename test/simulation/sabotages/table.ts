/**
 * Formats the table of caught sabotages and the seeds that caught them. A row has the same form in the output
 * and in the docs.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Catch } from './hunt.js';
import type { Sabotage } from './sabotage.js';

const file = fileURLToPath(new URL('../../../docs/reports/tables/sabotage.md', import.meta.url));
const head = ['Sabotage', 'The rule it breaks', 'Seed', 'Invariant', 'What was seen'];

export function row({ name, rule }: Sabotage, found: Catch | null): string {
  return line([
    name,
    rule,
    ...(found === null ? ['HOLE', '', ''] : [found.seed, found.invariant, found.what]),
  ]);
}

function line(cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '/').replaceAll('\n', ' ')).join(' | ')} |`;
}

/** The last heading of the page. Only the table comes after this heading. */
const heading = '## The table\n\n';

/** Replaces the table at the end of the page. */
export function writeTable(caught: readonly (readonly [Sabotage, Catch | null])[]): void {
  const text = readFileSync(file, 'utf8');
  const rows = caught.map(([sabotage, found]) => row(sabotage, found));
  const table = [line(head), line(head.map(() => '---')), ...rows];
  writeFileSync(file, `${text.slice(0, text.indexOf(heading) + heading.length)}${table.join('\n')}\n`);
  execFileSync('npx', ['biome', 'format', '--write', file], { stdio: 'ignore' });
}
