/** Runs chaos once, from the start of the ensemble to the exit of the last process. */
import { writeFile } from 'node:fs/promises';
import { Journal, nowMs } from './journal.js';
import { Nemesis } from './nemesis.js';
import { planRound, type Round, roundText } from './plan.js';
import { readRun } from './read-run.js';
import type { RunRecords } from './records.js';
import type { Scale } from './scale.js';
import { serversOf, serversText } from './servers.js';
import { World } from './world.js';

export interface RunOptions {
  /** Path of the command line's main program. */
  readonly main: string;
  /** Directory for the records. It is created if it is missing. An existing directory must be empty. */
  readonly dir: string;
  readonly seed: number;
  readonly scale: Scale;
  /** Time after which no new round begins. */
  readonly lastsMs: number;
  /** Rounds that replace those of the seed. */
  readonly rounds?: readonly Round[];
  /** Ends the run early when it is aborted. */
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** Executes a plan. Ends every process that it started and completes the records, even if the run fails. */
export async function run({
  main,
  dir,
  seed,
  scale,
  lastsMs,
  rounds,
  signal,
  say,
}: RunOptions): Promise<RunRecords> {
  const journal = await Journal.in(dir);
  const servers = serversOf(seed, scale);
  const world = new World(main, journal, scale, servers);
  try {
    await world.start();
    say(`the group is in order; records in ${dir}`);
    say(serversText(servers));
    const nemesis = new Nemesis(world, journal, signal);
    const endsAtMs = nowMs() + lastsMs;
    const done: Round[] = [];
    for (let next = 1; nowMs() < endsAtMs && !signal.aborted; next += 1) {
      const round = rounds === undefined ? planRound(seed, next, scale) : rounds[next - 1];
      if (round === undefined) break;
      say(roundText(round));
      done.push(round);
      await writeFile(journal.path('plan.json'), `${JSON.stringify(done, null, 1)}\n`);
      await nemesis.round(round);
    }
  } finally {
    await world.stop(seed);
  }
  return readRun(dir);
}
