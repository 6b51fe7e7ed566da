/**
 * Runs the laboratory's reproductions, from ten seeds each, and all its elections with fifty nodes. Writes
 * every point to docs/reports/tables/lab.md, and the summaries to docs/reports/lab.md. The results depend on
 * the code alone, so another run writes the same.
 *
 *   npm run bench:lab                         all of it, about seven minutes of processor time
 *   npm run bench:lab -- --workers 1          on one processor
 *   npm run bench:lab -- --out DIRECTORY      writes to this directory instead of docs/reports
 */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { algorithms } from '../packages/lab/src/algorithms/index.js';
import { conditions } from '../packages/lab/src/conditions.js';
import { type Case, type Result, resultOf, runsOf, tasksOf } from '../packages/lab/src/experiment.js';
import { runTasks } from '../packages/lab/src/pool.js';
import { reproductions, seedsOfReproduction } from '../packages/lab/src/reproduce/index.js';
import { reproductionNames } from '../packages/lab/src/reproduce/names.js';
import { everyPoint, failureTable, fiftyTable, type Reproduced, summaryTable } from './lab/report.js';
import { withMeasured } from './report.js';

const project = fileURLToPath(new URL('..', import.meta.url));
const reports = 'docs/reports';
const { values } = parseArgs({ options: { out: { type: 'string' }, workers: { type: 'string' } } });
const workers = Number(values.workers ?? availableParallelism());
const seeds = Array.from({ length: seedsOfReproduction }, (_, index) => index + 1);

const reproduced: Reproduced[] = [];
for (const name of reproductionNames) {
  const { cases, runs, make } = reproductions[name];
  const { points } = make(await runAll(cases, runs, seeds), seeds);
  reproduced.push({ name, points });
  say(`${name}: ${points.length} points`);
}
const fifty = await fiftyNodes();

await write('tables/lab.md', [
  ['failures', failureTable(reproduced)],
  ['measured', everyPoint(reproduced)],
]);
await write('lab.md', [
  ['fifty nodes', fiftyTable(fifty)],
  ['reproductions', summaryTable(reproduced)],
]);

async function fiftyNodes(): Promise<Result[]> {
  const results: Result[] = [];
  for (const algorithm of algorithms.keys()) {
    const cases = (['start', 'crash', 'join'] as const).map((scenario) => {
      return { algorithm, conditions: conditions({ nodes: 50, scenario }) };
    });
    // Petrel's agents take a hundred times as long to simulate, and hardly vary.
    const ran = await runAll(cases, algorithm === 'petrel' ? 10 : 100, [1]);
    results.push(...cases.map((one) => resultOf(one, ran(one, 1))));
  }
  say('fifty nodes');
  return results;
}

async function runAll(cases: readonly Case[], runs: number, from: readonly number[]) {
  const tasks = from.flatMap((seed) => tasksOf(cases, runs, seed));
  return runsOf(tasks, await runTasks(tasks, { workers, aloneMs: 300, progress: () => {} }));
}

/** Replaces the measurements of a page. */
async function write(page: string, measured: readonly (readonly [string, string])[]): Promise<void> {
  const before = await readFile(join(project, reports, page), 'utf8');
  const text = measured.reduce((page, [name, part]) => withMeasured(page, part, name), before);
  const file = join(values.out ?? join(project, reports), page);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, formatted(page, text));
  say(`written: ${file}`);
}

/** Formats the page as the project's checks require. */
function formatted(page: string, markdown: string): string {
  const biome = join(project, 'node_modules/.bin/biome');
  const args = ['format', `--stdin-file-path=${reports}/${page}`];
  return execFileSync(biome, args, { cwd: project, input: markdown, encoding: 'utf8' });
}

function say(line: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}
