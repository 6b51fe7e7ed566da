/** What a group costs while nothing happens: processor, memory, and what the server is asked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Contest } from '../contest.js';
import { CountingProxy, requestCount } from '../counting-proxy.js';
import { cpuSeconds, memoryOf } from '../machine.js';
import type { Participant } from '../participant.js';
import { meetingOf, openContests, type Tournament } from '../tournament.js';

const size = 3;

export interface IdleTimes {
  /** Until what a process does in its first moments is done. */
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
    await Promise.all(
      contests.all.map((contest) => {
        const proxy = proxies.get(contest.contender.name) ?? null;
        return contests.attempt(contest, () => watch(tournament, scenario, contest, proxy, times.windowMs));
      }),
    );
  } finally {
    await contests.close();
    for (const proxy of proxies.values()) await proxy.stop();
  }
}

async function watch(
  { samples }: Tournament,
  scenario: string,
  contest: Contest,
  proxy: CountingProxy | null,
  windowMs: number,
): Promise<void> {
  const { name } = contest.contender;
  const asked = () => (proxy === null ? 0 : requestCount(proxy.traffic) + proxy.traffic.pings);
  const before = { asked: asked(), cpu: await Promise.all(contest.participants.map(cpuOf)) };
  await sleep(windowMs);
  const cpu = await Promise.all(contest.participants.map(cpuOf));
  if (proxy !== null)
    samples.add(scenario, name, 'packets', (asked() - before.asked) / size / (windowMs / 1000));
  for (const [index, participant] of contest.participants.entries()) {
    const used = ((cpu[index] ?? 0) - (before.cpu[index] ?? 0)) / (windowMs / 3_600_000);
    const isLeader = participant.name === contest.leader;
    samples.add(scenario, name, isLeader ? 'cpu of the leader' : 'cpu of the others', used);
    const memory = await Promise.all(participant.pids.map(memoryOf));
    const total = (of: 'residentMb' | 'proportionalMb') => memory.reduce((sum, one) => sum + one[of], 0);
    samples.add(scenario, name, 'resident', total('residentMb'));
    samples.add(scenario, name, 'proportional', total('proportionalMb'));
  }
}

async function cpuOf({ pids }: Participant): Promise<number> {
  const seconds = await Promise.all(pids.map(cpuSeconds));
  return seconds.reduce((sum, one) => sum + one, 0);
}
