/** Measures a planned handover, in which the leader's process exits on request and another one takes over. */
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../clocks.js';
import { Contest } from '../contest.js';
import { calm, meetingOf, openContests, type Tournament } from '../tournament.js';
import { Limit } from './limit.js';

const size = 3;
const sessionMs = 6_000;
const limitRounds = 5;
/** Time after which a handover has no further consequences that would count. */
const echoMs = 300;

export interface HandoverRounds {
  readonly rounds: number;
  /** Time that all nodes run undisturbed before each round. */
  readonly settleMs: number;
}

export async function handover(
  tournament: Tournament,
  scenario: string,
  { rounds, settleMs }: HandoverRounds,
): Promise<void> {
  const { contenders, zookeeper, samples, say } = tournament;
  await using limits = await Limit.open(zookeeper);
  await limits.warmUp(100);
  const contests = await openContests(tournament, scenario, contenders, (contender) =>
    Contest.open(meetingOf(tournament, contender, { sessionMs }), size),
  );
  try {
    for (let round = 1; round <= rounds; round++) {
      say(`${scenario}: round ${round} of ${rounds}`);
      await sleep(settleMs);
      await calm(tournament);
      await limits.measure(samples, scenario, limitRounds);
      for (const contest of contests.all)
        await contests.attempt(contest, () => handOver(tournament, scenario, contest));
    }
  } finally {
    await contests.close();
  }
}

async function handOver(tournament: Tournament, scenario: string, contest: Contest): Promise<void> {
  const { hub, samples } = tournament;
  await calm(tournament);
  const before = await contest.cpuSeconds();
  const mark = hub.mark;
  const old = contest.takeLeader();
  const atMs = monotonicMs();
  old.leave();
  const next = await contest.anybody(mark);
  await old.end();
  await sleep(echoMs);
  const used = (await contest.cpuSeconds()) - before;
  const { name } = contest.contender;
  samples.add(scenario, name, 'handover', next.atMs - atMs);
  samples.add(scenario, name, 'cpu', used * 1_000);
  // Petrel's library reports both events. The gap starts when the work has ended.
  const said = contest.since(mark).filter((event) => event.name === old.name);
  const ended = said.find(({ what }) => what === 'released') ?? said.find(({ what }) => what === 'leaves');
  if (ended !== undefined) samples.add(scenario, name, 'gap', next.atMs - ended.atMs);
  await contest.join();
  await contest.complete();
}
