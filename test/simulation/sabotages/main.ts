/** Sabotages Petrel, one rule at a time, and says which seed caught it: `npm run sabotage -- --help`. */
import { Command, InvalidArgumentError } from 'commander';
import { type Catch, hunt, type Range } from './hunt.js';
import { sabotages } from './index.js';
import { readKnownSeeds, writeKnownSeeds } from './known-seeds.js';
import type { Sabotage } from './sabotage.js';

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
  .option('--anew', 'forget the seeds that are known to catch')
  .option('--keep', 'write the seeds that caught to known-seeds.json')
  .parse();
const { only: part = '', ...options } = program.opts<{
  only?: string;
  seeds: Range;
  workers: number;
  anew?: boolean;
  keep?: boolean;
}>();

const chosen = sabotages.filter(({ name }) => name.includes(part));
const known = readKnownSeeds();
const caught = new Map<Sabotage, Catch | null>();
const waiting = [...chosen];
await Promise.all(Array.from({ length: options.workers }, work));
report();

async function work(): Promise<void> {
  for (let sabotage = waiting.shift(); sabotage !== undefined; sabotage = waiting.shift()) {
    const found = await hunt({
      sabotage,
      known: options.anew === true ? [] : (known[sabotage.name] ?? []),
      seeds: options.seeds,
      signal: new AbortController().signal,
    });
    caught.set(sabotage, found);
    console.log(row(sabotage, found));
  }
}

function row({ name, rule }: Sabotage, found: Catch | null): string {
  const how = found === null ? ['HOLE', '', ''] : [found.seed, found.invariant, found.what];
  return `| ${[name, rule, ...how].map((cell) => String(cell).replaceAll('|', '/')).join(' | ')} |`;
}

function report(): void {
  const holes = [...caught].filter(([, found]) => found === null);
  console.log(`${caught.size} sabotages, ${holes.length} holes`);
  if (holes.length > 0) process.exitCode = 1;
  if (options.keep !== true) return;
  const now = sabotages.map(({ name }): [string, readonly number[]] => [name, seedsOf(name)]);
  writeKnownSeeds(Object.fromEntries(now.filter(([, seeds]) => seeds.length > 0)));
}

function seedsOf(name: string): readonly number[] {
  const found = [...caught].find(([sabotage]) => sabotage.name === name)?.[1];
  return found === undefined || found === null ? (known[name] ?? []) : [found.seed];
}
