/** Measures the cost of an idle group: CPU time, memory, and requests to the server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Contest } from '../contest.js';
import { CountingProxy, requestCount } from '../counting-proxy.js';
import { cpuSeconds, memoryOf } from '../machine.js';
import type { Participant } from '../participant.js';
import { type Contests, meetingOf, openContests, type Tournament } from '../tournament.js';

const size = 3;

export interface IdleTimes {
  /** Time that a process gets to finish its start. */
  readonly settleMs: number;
  readonly windowMs: number;
}

export async function idle(tournament: Tournament, scenario: string, times: IdleTimes): Promise<void> {
  const { contenders, zookeeper, say } = tournament;
  const proxies = new Map<string, CountingProxy>();
  const contests = await openContests(tournament, scenario, contenders, async (contender) => {
    const meeting = meetingOf(tournament, contender, { sessionMs: 6_000 });
    if (contender.system === 'etcd') return await Contest.open(meeting, size);
    const proxy = await CountingProxy.start(zookeeper.connect);
    proxies.set(contender.name, proxy);
    return await Contest.open({ ...meeting, connect: proxy.address }, size);
  });
  try {
    say(`${scenario}: all are idle for ${(times.settleMs + times.windowMs) / 1000} s`);
    await sleep(times.settleMs);
    const before = await inTurn(contests, proxies);
    await sleep(times.windowMs);
    const after = await inTurn(contests, proxies);
    const hours = times.windowMs / 3_600_000;
    for (const [contest, used] of after) {
      const at = before.get(contest);
      if (at !== undefined) await addSamples(tournament, scenario, contest, difference(at, used), hours);
    }
  } finally {
    await contests.close();
    for (const proxy of proxies.values()) await proxy.stop();
  }
}

/** Totals since the start of the processes. */
interface Used {
  /** Number of requests and pings. Null if they are not counted. */
  readonly packets: number | null;
  /** CPU seconds that each node has used. */
  readonly cpu: readonly number[];
}

async function inTurn(
  contests: Contests,
  proxies: ReadonlyMap<string, CountingProxy>,
): Promise<Map<Contest, Used>> {
  const all = new Map<Contest, Used>();
  for (const contest of contests.all)
    await contests.attempt(contest, async () => {
      const traffic = proxies.get(contest.contender.name)?.traffic;
      const packets = traffic === undefined ? null : requestCount(traffic) + traffic.pings;
      all.set(contest, { packets, cpu: await Promise.all(contest.participants.map(cpuOf)) });
    });
  return all;
}

function difference(before: Used, after: Used): Used {
  const packets = before.packets === null || after.packets === null ? null : after.packets - before.packets;
  return { packets, cpu: after.cpu.map((seconds, index) => seconds - (before.cpu[index] ?? Number.NaN)) };
}

async function addSamples(
  { samples }: Tournament,
  scenario: string,
  contest: Contest,
  used: Used,
  hours: number,
): Promise<void> {
  const add = (measure: string, value: number) =>
    samples.add(scenario, contest.contender.name, measure, value);
  if (used.packets !== null) add('packets', used.packets / size / (hours * 3_600));
  for (const [index, participant] of contest.participants.entries()) {
    const isLeader = participant.name === contest.leader;
    add(isLeader ? 'cpu of the leader' : 'cpu of the others', (used.cpu[index] ?? Number.NaN) / hours);
    const memory = await Promise.all(participant.pids.map(memoryOf));
    const total = (of: 'residentMb' | 'proportionalMb') => memory.reduce((sum, one) => sum + one[of], 0);
    add('resident', total('residentMb'));
    add('proportional', total('proportionalMb'));
  }
}

async function cpuOf({ pids }: Participant): Promise<number> {
  const seconds = await Promise.all(pids.map(cpuSeconds));
  return seconds.reduce((sum, one) => sum + one, 0);
}
