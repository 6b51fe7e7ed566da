/** Sabotages Petrel, one rule at a time, and says which seed caught it: `npm run sabotage -- --help`. */
import { Command, InvalidArgumentError } from 'commander';
import { type Catch, hunt, type Range } from './hunt.js';
import { sabotages } from './index.js';
import { readKnownSeeds, writeKnownSeeds } from './known-seeds.js';
import type { Sabotage } from './sabotage.js';
import { row, writeTable } from './table.js';

function range(text: string): Range {
  const match = /^(\d+)-(\d+)$/.exec(text);
  if (match === null) throw new InvalidArgumentError('the first and the last: 1-3000');
  return { from: Number(match[1]), to: Number(match[2]) };
}

const program = new Command('npm run sabotage --')
  .description(
    'Breaks a rule of the code at a time; the simulation must notice. A HOLE is a sabotage it does not.',
  )
  .option('--only <name>', 'sabotages whose name contains this')
  .option('--seeds <range>', 'the seeds to try after those that are known to catch', range, {
    from: 1,
    to: 3000,
  })
  .option('--workers <n>', 'how many sabotages at a time', Number, 1)
  .option('--within <s>', 'end after so many seconds; what is not decided then is said', Number)
  .option('--anew', 'forget the seeds that are known to catch')
  .option('--keep', 'write the seeds that caught to known-seeds.json, and the table to docs/sabotage.md')
  .parse();
const { only: part = '', ...options } = program.opts<{
  only?: string;
  seeds: Range;
  workers: number;
  within?: number;
  anew?: boolean;
  keep?: boolean;
}>();

const known = readKnownSeeds();
const caught = new Map<Sabotage, Catch | null>();
const waiting = sabotages.filter(({ name }) => name.includes(part));
const undecided: Sabotage[] = [];
const ending = new AbortController();
const timer = options.within === undefined ? null : setTimeout(() => ending.abort(), options.within * 1000);
await Promise.all(Array.from({ length: options.workers }, work));
if (timer !== null) clearTimeout(timer);
report();

async function work(): Promise<void> {
  for (let sabotage = waiting.shift(); sabotage !== undefined; sabotage = waiting.shift()) {
    const { signal } = ending;
    const first = options.anew === true ? [] : (known[sabotage.name] ?? []);
    const found = signal.aborted
      ? null
      : await hunt({ sabotage, known: first, seeds: options.seeds, signal });
    if (found === null && signal.aborted) undecided.push(sabotage);
    else {
      caught.set(sabotage, found);
      console.log(row(sabotage, found));
    }
  }
}

function report(): void {
  const holes = [...caught].filter(([, found]) => found === null);
  console.log(`${caught.size - holes.length} sabotages caught, ${holes.length} HOLES`);
  for (const { name } of undecided) console.log(`!!! not decided in time: ${name}`);
  if (undecided.length > 0)
    console.log('Seeds that catch them are found, and kept, with: npm run sabotage -- --keep');
  if (holes.length > 0) process.exitCode = 1;
  if (options.keep !== true) return;
  const now = sabotages.map(({ name }): [string, readonly number[]] => [name, seedsOf(name)]);
  writeKnownSeeds(Object.fromEntries(now.filter(([, seeds]) => seeds.length > 0)));
  if (caught.size === sabotages.length) writeTable(caught);
}

function seedsOf(name: string): readonly number[] {
  const found = [...caught].find(([sabotage]) => sabotage.name === name)?.[1];
  return found === undefined || found === null ? (known[name] ?? []) : [found.seed];
}
