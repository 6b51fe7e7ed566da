/**
 * Measures a crash of the leader: `kill -9` of one process, or of all processes of its node. For most
 * contenders these cases are the same, because a node is one process. A node of Petrel's agent also has a
 * guardian and a workload, so both cases are measured.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../clocks.js';
import type { Contender } from '../contenders.js';
import { Contest } from '../contest.js';
import type { Participant } from '../participant.js';
import { Contests, calm, meetingOf, type Tournament } from '../tournament.js';
import { Limit, limit, sessionEnd } from './limit.js';

export const crashSessionMs = 6_000;
const size = 3;

interface Doomed {
  readonly contest: Contest;
  readonly measures: readonly string[];
  kill(leader: Participant): Promise<void>;
}

export async function crash(tournament: Tournament, scenario: string, rounds: number): Promise<void> {
  const { zookeeper, say, samples } = tournament;
  await using limits = await Limit.open(zookeeper);
  const contests = new Contests(tournament, scenario);
  try {
    const doomed = await openAll(tournament, contests);
    for (let round = 1; round <= rounds; round++) {
      say(`${scenario}: round ${round} of ${rounds}`);
      await calm(tournament);
      await limits.measure(samples, scenario, 3);
      await oneRound(tournament, scenario, contests, doomed);
    }
  } finally {
    await contests.close();
  }
}

async function openAll(tournament: Tournament, contests: Contests): Promise<Doomed[]> {
  const doomed: Doomed[] = [];
  const open = async (contender: Contender, measures: readonly string[], kill: Doomed['kill']) => {
    const meeting = meetingOf(tournament, contender, {
      sessionMs: crashSessionMs,
      hasWorkload: true,
      isKilled: true,
    });
    const contest = await contests.open(contender, () => Contest.open(meeting, size));
    if (contest !== null) doomed.push({ contest, measures, kill });
  };
  for (const contender of tournament.contenders) {
    const killHost = (leader: Participant) => leader.killHost();
    if (contender.isGuarded) {
      await open(contender, ['crash'], async (leader) => leader.killElector());
      await open(contender, ['host'], killHost);
    } else await open(contender, ['crash', 'host'], killHost);
  }
  return doomed;
}

/** Contests are independent, so they wait for the expiry of their sessions at the same time. */
async function oneRound(
  tournament: Tournament,
  scenario: string,
  contests: Contests,
  doomed: readonly Doomed[],
): Promise<void> {
  const { zookeeper, samples } = tournament;
  const silent = sessionEnd(zookeeper, crashSessionMs).then((ms) =>
    samples.add(scenario, limit, 'session', ms),
  );
  const rounds: Promise<void>[] = [];
  for (const one of inRandomOrder(doomed)) {
    // The pause is random, so that the kills come at varying points of the heartbeat intervals.
    await sleep(100 + Math.random() * 400);
    rounds.push(contests.attempt(one.contest, () => die(tournament, scenario, one)));
  }
  await Promise.all([...rounds, silent]);
  await Promise.all(doomed.map(({ contest }) => contests.attempt(contest, () => rejoin(contest))));
}

async function rejoin(contest: Contest): Promise<void> {
  await contest.join();
  await contest.complete();
}

async function die(tournament: Tournament, scenario: string, { contest, measures, kill }: Doomed) {
  const mark = tournament.hub.mark;
  const old = contest.takeLeader();
  const atMs = monotonicMs();
  await kill(old);
  const next = await contest.anybody(mark);
  for (const measure of measures)
    tournament.samples.add(scenario, contest.contender.name, measure, next.atMs - atMs);
  await old.end();
}

function inRandomOrder<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ value }) => value);
}
