/**
 * Compares Petrel with its alternatives on the same servers, one after the other. Prints the goals, and
 * writes docs/reports/tables/benchmarks.md and its plots.
 * `npm run bench -- --help` lists the options.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { type BenchArguments, readArguments } from './arguments.js';
import { judge } from './goals.js';
import { machineName } from './machine.js';
import { measure } from './measure.js';
import { plotsOf } from './plots.js';
import { report, withMeasured } from './report.js';

const project = fileURLToPath(new URL('..', import.meta.url));
const tables = 'docs/reports/tables';
const page = 'benchmarks.md';
const plotDirectory = 'benchmarks';

const options = readOrExit(process.argv.slice(2));
const say = (line: string) =>
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
const { samples, peers, missing } = await measure(options, say);

const out = options.out ?? join(project, tables);
await mkdir(join(out, plotDirectory), { recursive: true });
const files = new Map<string, string>();
for (const [scenario, svg] of plotsOf(samples, options.sizes)) {
  const file = `${plotDirectory}/${scenario.replaceAll(/[^a-z0-9]+/g, '-')}.svg`;
  await writeFile(join(out, file), svg);
  files.set(scenario, file);
}
const command = ['npm run bench', ...(options.given.length === 0 ? [] : ['--', ...options.given])].join(' ');
const at = new Date().toISOString().slice(0, 10);
const run = {
  samples,
  peers,
  missing,
  command,
  at,
  machine: machineName(),
  sizes: options.sizes,
  plots: files,
};
const before = await readFile(join(project, tables, page), 'utf8');
await writeFile(join(out, page), formatted(withMeasured(before, report(run))));

for (const { text: goal, isMet, figure } of judge(samples, peers, options.sizes))
  console.log(`${isMet === null ? '–      ' : isMet ? 'met    ' : 'NOT MET'}  ${goal}\n         ${figure}`);
for (const line of missing) console.log(line);
console.log(`written: ${join(out, page)}`);

/** Formats the page as the project's checks require. */
function formatted(text: string): string {
  const biome = join(project, 'node_modules/.bin/biome');
  const args = ['format', `--stdin-file-path=${tables}/${page}`];
  return execFileSync(biome, args, { cwd: project, input: text, encoding: 'utf8' });
}

/**
 * Ends the process if the arguments are invalid or ask for the help. Commander has then printed a message.
 */
function readOrExit(given: readonly string[]): BenchArguments {
  try {
    return readArguments(given);
  } catch (error) {
    if (error instanceof CommanderError) process.exit(error.exitCode);
    throw error;
  }
}
