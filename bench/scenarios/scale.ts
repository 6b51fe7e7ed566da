/**
 * Measures many participants in one process, each with its own session: the leader leaves gracefully, and
 * another participant leads. Times are measured directly on the server. Requests and bytes are counted in a
 * second contest, whose participants use a proxy.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../clocks.js';
import type { Contender } from '../contenders.js';
import { Contest } from '../contest.js';
import { CountingProxy, requestCount, trafficBetween } from '../counting-proxy.js';
import { memoryOf } from '../machine.js';
import { type Contests, calm, meetingOf, openContests, type Tournament } from '../tournament.js';

/** The session timeout is long, so that few heartbeats affect the counts. */
const sessionMs = 60_000;
/** Time after which a transition has no further consequences. */
const echoMs = 1_000;

const leavingMs = 300;

export interface ScaleRounds {
  readonly timed: number;
  readonly counted: number;
}

export function scaleScenario(scenario: string, participants: number): string {
  return `${scenario}, ${participants}`;
}

export async function scale(
  tournament: Tournament,
  name: string,
  participants: number,
  rounds: ScaleRounds,
): Promise<void> {
  const scenario = scaleScenario(name, participants);
  const many = tournament.contenders.filter(({ holdsMany }) => holdsMany);
  // Large contests run one contender at a time. The server would be the bottleneck for all their sessions
  // together.
  const batches = participants > 100 ? many.map((one) => [one]) : [many];
  for (const batch of batches) {
    await time(tournament, scenario, batch, participants, rounds.timed);
    await count(tournament, scenario, batch, participants, rounds.counted);
  }
}

async function time(
  tournament: Tournament,
  scenario: string,
  batch: readonly Contender[],
  participants: number,
  rounds: number,
): Promise<void> {
  const { samples, say } = tournament;
  const contests = await openContests(tournament, scenario, batch, async (contender) => {
    const atMs = monotonicMs();
    const contest = await Contest.openMany(meetingOf(tournament, contender, { sessionMs }), participants);
    samples.add(scenario, contender.name, 'joining', (monotonicMs() - atMs) / 1000);
    const { residentMb } = await memoryOf(contest.holder.pid);
    samples.add(scenario, contender.name, 'resident', residentMb);
    return contest;
  });
  try {
    for (let round = 1; round <= rounds; round++) {
      say(`${scenario}: round ${round} of ${rounds}`);
      await inTurn(contests, async (contest) => {
        await calm(tournament);
        const tookMs = await leaderLeaves(tournament, contest, async () => {});
        samples.add(scenario, contest.contender.name, 'handover', tookMs);
      });
    }
  } finally {
    await contests.close();
  }
}

async function count(
  tournament: Tournament,
  scenario: string,
  batch: readonly Contender[],
  participants: number,
  rounds: number,
): Promise<void> {
  const { samples, say, zookeeper } = tournament;
  const proxies = new Map<Contender, CountingProxy>();
  const contests = await openContests(tournament, scenario, batch, async (contender) => {
    const proxy = await CountingProxy.start(zookeeper.connect);
    proxies.set(contender, proxy);
    const meeting = meetingOf(tournament, contender, { sessionMs, connect: proxy.address });
    return await Contest.openMany(meeting, participants);
  });
  try {
    say(`${scenario}: counting`);
    for (let round = 0; round < rounds; round++)
      await inTurn(contests, async (contest) => {
        const { contender } = contest;
        const proxy = proxies.get(contender);
        if (proxy === undefined) return;
        const before = proxy.traffic;
        await leaderLeaves(tournament, contest, async () => {
          await sleep(echoMs);
          const traffic = trafficBetween(before, proxy.traffic);
          const add = (measure: string, value: number) =>
            samples.add(scenario, contender.name, measure, value);
          add('requests', requestCount(traffic));
          add('notifications', traffic.notifications);
          add('bytes', traffic.bytes);
          add('notification bytes', traffic.notificationBytes);
          for (const [kind, value] of Object.entries(traffic.requests)) add(`of ${kind}`, value);
        });
      });
  } finally {
    await contests.close();
    for (const proxy of proxies.values()) await proxy.stop();
  }
}

async function inTurn(contests: Contests, part: (contest: Contest) => Promise<void>): Promise<void> {
  for (const contest of contests.all) await contests.attempt(contest, () => part(contest));
}

/**
 * Returns the milliseconds from the event `leaves` of the old leader until the next participant leads. After
 * `then`, a new participant replaces the old leader.
 */
async function leaderLeaves(
  { hub }: Tournament,
  contest: Contest,
  then: () => Promise<void>,
): Promise<number> {
  const mark = hub.mark;
  const old = contest.leader;
  contest.holder.say(`leave ${old}`);
  const next = await contest.anybody(mark);
  const leaves = contest.since(mark).find(({ what, name }) => what === 'leaves' && name === old);
  if (leaves === undefined) throw new Error(`${old} did not say that it leaves`);
  await then();
  // The old leader needs time to leave the queue. Otherwise, `complete` would count it instead of the new
  // participant.
  await sleep(leavingMs);
  contest.joinHolder();
  await contest.complete();
  return next.atMs - leaves.atMs;
}
