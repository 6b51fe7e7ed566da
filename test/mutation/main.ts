/** Changes the code in one place at a time, and prints which changes no test notices. */
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { z } from 'zod';
import { wholeNumber } from '../../src/cli/arguments.js';
import { errorMessage } from '../../src/errors.js';
import { kindOf } from './kinds.js';
import { equivalentSchema, outdated, type Score, type Survivor, scoresOf } from './report.js';
import { mutantsOf } from './stryker.js';
import { percentText, writeTable } from './table.js';

const misused = 2;
const program = new Command('npm run mutation --')
  .description(
    'Changes the code of files in one place at a time, and runs the tests that execute that place. Prints the changes that no test notices. Exit code 1: there are such changes without a verdict.',
  )
  .argument(
    '<files...>',
    'files below src/hooks, below src/zookeeper, or below src/core, src/lease, src/slots and strategies',
  )
  .option('--keep', 'write the scores to docs/reports/tables/mutation.md')
  .option('--workers <number>', 'mutants to test at the same time', wholeNumber(1, 1_000), 1)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : misused))
  .parse();
const { keep = false, workers } = program.opts<{ keep?: boolean; workers: number }>();
const project = fileURLToPath(new URL('../..', import.meta.url));
const files = program.args.map((file) => relative(project, resolve(file)));
const kind = kindOrExit();

const verdicts = fileURLToPath(new URL('equivalents.json', import.meta.url));
const equivalents = z.array(equivalentSchema).parse(JSON.parse(readFileSync(verdicts, 'utf8')));

const startedMs = performance.now();
const report = await mutantsOf({ files, kind, workers });
const minutes = (performance.now() - startedMs) / 60_000;
const scores = scoresOf(report, equivalents);
for (const score of scores) printScore(score);
for (const { line, original, replacement } of outdated(report, equivalents))
  console.log(`  an outdated verdict: ${changeText({ original, replacement })} in: ${line}`);
console.log(`${minutes.toFixed(1)} minutes`);
if (scores.some(({ survivors }) => survivors.length > 0)) process.exitCode = 1;
if (keep) writeTable(scores);

function kindOrExit(): string {
  try {
    return kindOf(files);
  } catch (error) {
    return program.error(errorMessage(error));
  }
}

function printScore(score: Score): void {
  const { file, mutants, killed, equivalent, survivors } = score;
  console.log(
    `${file}: ${mutants} mutants, ${killed} killed, ${equivalent} equivalent, ${survivors.length} survived: ${percentText(score)}`,
  );
  for (const survivor of survivors) {
    const covered = survivor.isCovered ? '' : ' (executed by no test)';
    console.log(`  ${file}:${survivor.lineNumber} ${changeText(survivor)}${covered}`);
  }
}

function changeText({ original, replacement }: Pick<Survivor, 'original' | 'replacement'>): string {
  return `${original} → ${replacement === '' ? 'nothing' : replacement}`;
}
