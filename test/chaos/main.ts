/** Runs chaos on a real ensemble: see `npm run chaos -- --help` and docs/reports/chaos.md. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { errorMessage } from '../../src/errors.js';
import { buildCommandLine } from '../support/build.js';
import { javaIsMissing } from '../support/zookeeper/java.js';
import { check } from './check/check.js';
import { reportText } from './check/report.js';
import { type Round, roundSchema } from './plan.js';
import { readRun } from './read-run.js';
import type { RunRecords } from './records.js';
import { run } from './run.js';
import { defaultScale, type Scale } from './scale.js';

function number(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('It is a number greater than 0.');
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('It is a whole number, 0 or more.');
}

function count(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It is a whole number from ${from} to ${to}.`);
  };
}

/** Exit code if nothing was run and nothing was checked. */
const misused = 2;

const program = new Command('npm run chaos --')
  .description(
    'Agents on three real servers, and a nemesis; then a checker of what they recorded. Ends with 1 where it finds a violation.',
  )
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : misused))
  .option('--minutes <n>', 'begins no round later', number, 5)
  .option('--seed <n>', 'what is done is planned by it; default: drawn', wholeNumber)
  .option('--leaders <n>', 'number of slots', count(1, 5), defaultScale.leaders)
  .option('--agents <n>', 'in three sites', count(2, 30), defaultScale.agents)
  .option('--session-timeout <seconds>', 'of the agents', count(6, 30), defaultScale.sessionTimeoutMs / 1000)
  .option('--plan <file>', 'does what was done in another run: the plan.json of its folder')
  .option('--dir <folder>', 'for the records; made, or empty. Default: a new one')
  .option('--check <folder>', 'runs nothing, and checks the records of a run again')
  .parse();
const options = program.opts<{
  minutes: number;
  seed?: number;
  leaders: number;
  agents: number;
  sessionTimeout: number;
  plan?: string;
  dir?: string;
  check?: string;
}>();

const records = options.check === undefined ? await runOnce() : await checkedAgain(options.check);
const verdict = check(records);
say(`\n${reportText(verdict, records)}`);
process.exit(verdict.violations.length === 0 ? 0 : 1);

async function runOnce(): Promise<RunRecords> {
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  const { leaders, agents, sessionTimeout } = options;
  if (leaders >= agents)
    return program.error(`error: ${leaders} leaders want more than ${agents} agents, as some have to fail`);
  const scale: Scale = { leaders, agents, sessionTimeoutMs: sessionTimeout * 1000 };
  const rounds = options.plan === undefined ? undefined : await readPlan(options.plan);
  const missing = javaIsMissing();
  if (missing !== undefined) return program.error(`error: ${missing}`);
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'petrel-chaos-')));
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => interrupted.abort());
  }
  say(`seed ${seed}${rounds === undefined ? '' : `, plan ${options.plan}`}`);
  return run({
    main: await buildCommandLine(),
    dir,
    seed,
    scale,
    lastsMs: options.minutes * 60_000,
    ...(rounds === undefined ? {} : { rounds }),
    signal: interrupted.signal,
    say,
  });
}

async function readPlan(file: string): Promise<Round[]> {
  try {
    return z.array(roundSchema).parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    return program.error(`error: ${file} holds no plan of a run: ${errorMessage(error)}`);
  }
}

async function checkedAgain(dir: string): Promise<RunRecords> {
  try {
    return await readRun(dir);
  } catch (error) {
    return program.error(`error: ${dir} holds no records of a run: ${errorMessage(error)}`);
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
