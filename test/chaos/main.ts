/**
 * Chaos on a real ensemble; see docs/chaos.md.
 *
 *   npm run chaos -- --minutes 30 --seed 7     plans by the seed, runs, checks
 *   npm run chaos -- --plan DIR/plan.json      does what was done in another run
 *   npm run chaos -- --check DIR               checks the records of a run again
 */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { buildCommandLine } from '../support/build.js';
import { javaIsMissing } from '../support/zookeeper/java.js';
import { check } from './check/check.js';
import { reportText } from './check/report.js';
import { type Round, roundSchema } from './plan.js';
import { readRun } from './read-run.js';
import type { RunRecords } from './records.js';
import { run } from './run.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    plan: { type: 'string' },
    dir: { type: 'string' },
    check: { type: 'string' },
  },
});

const records = values.check === undefined ? await runOnce() : await readRun(values.check);
const verdict = check(records);
say(`\n${reportText(verdict, records)}`);
process.exit(verdict.violations.length === 0 ? 0 : 1);

async function runOnce(): Promise<RunRecords> {
  const missing = javaIsMissing();
  if (missing !== undefined) throw new Error(missing);
  const seed = z.coerce
    .number()
    .int()
    .parse(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  const minutes = z.coerce.number().positive().parse(values.minutes);
  const rounds = values.plan === undefined ? undefined : await readPlan(values.plan);
  const dir = values.dir ?? (await mkdtemp(join(tmpdir(), 'petrel-chaos-')));
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => interrupted.abort());
  }
  say(`seed ${seed}${rounds === undefined ? '' : `, plan ${values.plan}`}`);
  return run({
    main: await buildCommandLine(),
    dir,
    seed,
    lastsMs: minutes * 60_000,
    ...(rounds === undefined ? {} : { rounds }),
    signal: interrupted.signal,
    say,
  });
}

async function readPlan(file: string): Promise<Round[]> {
  return z.array(roundSchema).parse(JSON.parse(await readFile(file, 'utf8')));
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
