/**
 * Measures the load on an ensemble as the size and the number of groups grow. Real agents run on a simulated
 * ensemble in virtual time, and every packet is counted. The program then measures the capacity of three
 * servers of a real ZooKeeper on this machine. It writes docs/reports/tables/growth.md.
 *
 *   npm run growth                        everything; takes a few minutes
 *   npm run growth -- --quick             small sizes, half a minute
 *   npm run growth -- --nodes 10,1000     one group of each size
 *   npm run growth -- --groups 10,100     these numbers of groups
 *   npm run growth -- --no-zookeeper      only the simulation
 *   npm run growth -- --out DIRECTORY     writes to this directory instead of docs/reports/tables
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { javaIsMissing } from '../test/support/zookeeper/java.js';
import { measureCapacity } from './growth/capacity.js';
import { type ManyGroups, measureManyGroups, type Sessions } from './growth/many-groups.js';
import { measureOneGroup, type OneGroup } from './growth/one-group.js';
import { growthReport } from './growth/report.js';
import { machineName } from './machine.js';
import { withMeasured } from './report.js';

const project = fileURLToPath(new URL('..', import.meta.url));
const tables = 'docs/reports/tables';
const page = 'growth.md';

const given = process.argv.slice(2);
const { values } = parseArgs({
  args: given,
  options: {
    nodes: { type: 'string' },
    groups: { type: 'string' },
    quick: { type: 'boolean', default: false },
    zookeeper: { type: 'boolean', default: true },
    out: { type: 'string' },
  },
  allowNegative: true,
});

const usual = values.quick
  ? { nodes: [10, 30, 100], own: [5, 10, 20], shared: [30, 60, 90], eachMs: 1_000 }
  : {
      nodes: [10, 30, 100, 300, 1_000],
      own: [10, 30, 100, 300],
      shared: [30, 100, 300, 1_000],
      eachMs: 4_000,
    };
const sizes = {
  nodes: sizesIn('nodes', values.nodes) ?? usual.nodes,
  own: sizesIn('groups', values.groups) ?? usual.own,
  shared: sizesIn('groups', values.groups) ?? usual.shared,
};

const one: OneGroup[] = [];
for (const size of sizes.nodes) {
  say(`one group of ${size} nodes`);
  one.push(await measureOneGroup(size));
}
const many = { own: await manyGroups('own'), shared: await manyGroups('shared') };
const capacity = await realZooKeeper();

const text = growthReport({
  one,
  many,
  capacity,
  command: commandOf(given),
  at: new Date().toISOString().slice(0, 10),
  machine: machineName(),
});
const before = await readFile(join(project, tables, page), 'utf8');
const out = join(values.out ?? join(project, tables), page);
await writeFile(out, formatted(withMeasured(before, text)));
say(`written: ${out}`);

async function manyGroups(sessions: Sessions): Promise<ManyGroups[]> {
  const runs: ManyGroups[] = [];
  for (const size of sizes[sessions]) {
    say(`${size} groups, sessions ${sessions}`);
    runs.push(await measureManyGroups(size, sessions));
  }
  return runs;
}

async function realZooKeeper() {
  if (!values.zookeeper) return null;
  const missing = javaIsMissing();
  if (missing !== undefined) {
    say(`without a real ZooKeeper: ${missing}`);
    return null;
  }
  say('three servers of a real ZooKeeper');
  return await measureCapacity(usual.eachMs);
}

function sizesIn(option: string, text: string | undefined): number[] | null {
  if (text === undefined) return null;
  const read = text.split(',').map(Number);
  if (read.some((size) => !Number.isInteger(size) || size < 3))
    throw new Error(`--${option} takes whole numbers from 3 on, like 10,100, not ${text}`);
  return read.toSorted((a, b) => a - b);
}

/** Returns the command without the output directory, which does not affect the counts. */
function commandOf(args: readonly string[]): string {
  const at = args.indexOf('--out');
  const said = at === -1 ? args : args.toSpliced(at, 2);
  return ['npm run growth', ...(said.length === 0 ? [] : ['--', ...said])].join(' ');
}

function say(line: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

/** Formats the page as the project's checks require. */
function formatted(markdown: string): string {
  const biome = join(project, 'node_modules/.bin/biome');
  const args = ['format', `--stdin-file-path=${tables}/${page}`];
  return execFileSync(biome, args, { cwd: project, input: markdown, encoding: 'utf8' });
}
