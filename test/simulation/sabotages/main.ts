/**
 * Applies sabotages to Petrel, one at a time, and prints which seed caught each of them. For the options, see
 * `npm run sabotage -- --help`.
 */
import { Command, InvalidArgumentError } from 'commander';
import { type Catch, hunt, type Range } from './hunt.js';
import { sabotages } from './index.js';
import { readKnownSeeds, writeKnownSeeds } from './known-seeds.js';
import type { Sabotage } from './sabotage.js';
import { row, writeTable } from './table.js';

function range(text: string): Range {
  const match = /^(\d+)-(\d+)$/.exec(text);
  const [from, to] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || from > to) throw new InvalidArgumentError('the first and the last: 1-3000');
  return { from, to };
}

function atLeastOne(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('a whole number from 1 on');
  return count;
}

function seconds(text: string): number {
  const time = Number(text);
  if (!Number.isFinite(time) || time <= 0) throw new InvalidArgumentError('seconds, more than 0');
  return time;
}

/** Exit code if no sabotage was tried. */
const misused = 2;

const program = new Command('npm run sabotage --')
  .description(
    'Breaks one rule of the code at a time. The simulation must notice each sabotage; one that it does not notice is a HOLE.',
  )
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : misused))
  .option('--only <name>', 'sabotages whose name contains this')
  .option('--seeds <range>', 'the seeds to try after those that are known to catch', range, {
    from: 1,
    to: 3000,
  })
  .option('--workers <n>', 'how many sabotages at a time', atLeastOne, 1)
  .option('--within <s>', 'time limit in seconds; names what is not decided by then', seconds)
  .option(
    '--start-at <n>',
    'the one in the list to begin with, any number: it starts over after the last',
    Number,
    0,
  )
  .option('--from-scratch', 'forget the seeds that are known to catch')
  .option(
    '--keep',
    'write the seeds that caught to known-seeds.json, and the table to docs/reports/tables/sabotage.md',
  )
  .parse();
const { only: part = '', ...options } = program.opts<{
  only?: string;
  seeds: Range;
  workers: number;
  within?: number;
  startAt: number;
  fromScratch?: boolean;
  keep?: boolean;
}>();

const mostKept = 3;
const known = options.fromScratch === true ? {} : readKnownSeeds();
const named = sabotages.filter(({ name }) => name.includes(part));
const start = named.length === 0 ? 0 : Math.abs(Math.trunc(options.startAt)) % named.length;
const chosen = [...named.slice(start), ...named.slice(0, start)];
if (chosen.length === 0) {
  console.error(`no sabotage's name contains "${part}"`);
  process.exit(misused);
}
const caught = new Map<Sabotage, Catch>();
const holes = new Set<Sabotage>();
const ending = new AbortController();
const { signal } = ending;
const timer = options.within === undefined ? null : setTimeout(() => ending.abort(), options.within * 1000);
// Tries the known seeds of all sabotages first. A sabotage that needs a search then does not delay the
// others.
await huntAll(
  chosen.filter(({ name }) => known[name] !== undefined),
  { from: 1, to: 0 },
);
await huntAll(
  chosen.filter((sabotage) => !caught.has(sabotage)),
  options.seeds,
);
if (timer !== null) clearTimeout(timer);
report();

async function huntAll(waiting: Sabotage[], seeds: Range): Promise<void> {
  const work = async () => {
    for (
      let sabotage = waiting.shift();
      sabotage !== undefined && !signal.aborted;
      sabotage = waiting.shift()
    ) {
      const found = await hunt({ sabotage, known: known[sabotage.name] ?? [], seeds, signal });
      if (found !== null) caught.set(sabotage, found);
      else if (seeds.to >= seeds.from && !signal.aborted) holes.add(sabotage);
      else continue;
      console.log(row(sabotage, found));
    }
  };
  await Promise.all(Array.from({ length: options.workers }, work));
}

function report(): void {
  const undecided = chosen.filter((sabotage) => !caught.has(sabotage) && !holes.has(sabotage));
  console.log(`${caught.size} ${caught.size === 1 ? 'sabotage' : 'sabotages'} caught, ${holes.size} HOLES`);
  for (const { name } of undecided) console.log(`!!! not decided in time: ${name}`);
  if (undecided.length > 0)
    console.log('Seeds that catch them are found, and kept, with: npm run sabotage -- --keep');
  if (holes.size > 0) process.exitCode = 1;
  if (options.keep !== true) return;
  writeKnownSeeds(Object.fromEntries(sabotages.flatMap(keptSeeds)));
  // The table is replaced only if every sabotage was tried and decided. Otherwise it might lack rows, or
  // report holes that are none.
  if (chosen.length === sabotages.length && undecided.length === 0)
    writeTable(sabotages.map((one) => [one, caught.get(one) ?? null]));
}

/**
 * Puts the seed that has just caught the sabotage first. Earlier seeds are kept, because they may catch the
 * sabotage again if the code changes.
 */
function keptSeeds(sabotage: Sabotage): [string, number[]][] {
  const now = caught.get(sabotage);
  const before = readKnownSeeds()[sabotage.name] ?? [];
  const seeds = now === undefined ? before : [now.seed, ...before.filter((seed) => seed !== now.seed)];
  return seeds.length === 0 ? [] : [[sabotage.name, seeds.slice(0, mostKept)]];
}
