/**
 * Shows where the time of a planned handover goes, from SIGTERM to the old leader until the next one leads:
 * how long both of them compute, wait for a core, and wait for anything else, such as commits. Three nodes
 * use Petrel's library and three servers of a real ZooKeeper. The nodes of each round are new, so they hand
 * over for the first time.
 *
 *   npm run bench:path               8 rounds, about 8 minutes
 *   ROUNDS=2 npm run bench:path
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { buildCommandLine } from '../test/support/build.js';
import { monotonicMs } from './clocks.js';
import { libraries } from './contenders.js';
import { Contest } from './contest.js';
import { threadTimes } from './machine.js';
import { withWorkshop } from './measure.js';
import { Limit, limit } from './scenarios/limit.js';
import { ZooKeeper } from './servers.js';
import { Samples } from './statistics.js';
import { calm, meetingOf, type Tournament } from './tournament.js';

const rounds = Number(process.env.ROUNDS ?? 8);
const scenario = 'path';
const size = 3;
const sessionMs = 6_000;
const settleMs = 20_000;
const measures = ['whole', 'old computes', 'old waits for a core', 'new computes', 'new waits for a core'];

const samples = new Samples();
await withWorkshop(await buildCommandLine(), libraries, async (workshop, hub) => {
  await using zookeeper = await ZooKeeper.start(3);
  await using limits = await Limit.open(zookeeper);
  await limits.warmUp(100);
  const tournament: Tournament = {
    contenders: libraries,
    workshop,
    hub,
    zookeeper,
    etcd: null,
    samples,
    failures: [],
    say: console.error,
  };
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    await limits.measure(samples, scenario, 5);
    for (const library of libraries) {
      const contest = await Contest.open(meetingOf(tournament, library, { sessionMs }), size);
      try {
        await sleep(settleMs);
        await calm(tournament);
        await handOver(contest, hub.mark);
      } finally {
        await contest.close();
      }
    }
  }
});

const medianOf = (contender: string, measure: string) =>
  samples.spread(scenario, contender, measure)?.median.toFixed(1);
for (const { name } of libraries) {
  console.log(`\n${name}, medians of ${rounds} handovers in ms:`);
  for (const measure of measures) console.log(`${measure.padEnd(22)} ${medianOf(name, measure)}`);
}
console.log(`\ntwo commits and a notification, in the same run: ${medianOf(limit, 'transition')}`);

/**
 * Hands over once. The times of both nodes also include the moments until this program receives the new
 * leader's report.
 */
async function handOver(contest: Contest, mark: number): Promise<void> {
  const { name } = contest.contender;
  const times = new Map(
    await Promise.all(
      contest.participants.map(async (one) => [one.name, await threadTimes(one.pid)] as const),
    ),
  );
  const old = contest.takeLeader();
  const atMs = monotonicMs();
  old.leave();
  const next = await contest.anybody(mark);
  samples.add(scenario, name, 'whole', next.atMs - atMs);
  for (const [role, { pid, name: node }] of [
    ['old', old],
    ['new', contest.leading],
  ] as const) {
    const [before, after] = [times.get(node), await threadTimes(pid)];
    if (before === undefined) throw new Error(`${node} did not run before`);
    samples.add(scenario, name, `${role} computes`, after.computedMs - before.computedMs);
    samples.add(scenario, name, `${role} waits for a core`, after.waitedMs - before.waitedMs);
  }
  await old.end();
}
