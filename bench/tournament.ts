/** Shared parts of all scenarios: the available contenders, and the collected measurements and failures. */
import { errorMessage } from '../src/errors.js';
import type { Contender, Workshop } from './contenders.js';
import type { Contest, Meeting } from './contest.js';
import type { Hub } from './hub.js';
import { quiet } from './machine.js';
import type { Etcd, ZooKeeper } from './servers.js';
import type { Samples } from './statistics.js';

export interface Tournament {
  readonly contenders: readonly Contender[];
  readonly workshop: Workshop;
  readonly hub: Hub;
  readonly zookeeper: ZooKeeper;
  /** The etcd server. Null if etcd is missing on this machine. */
  readonly etcd: Etcd | null;
  readonly samples: Samples;
  /** Measurements that failed, with their reasons. */
  readonly failures: string[];
  say(line: string): void;
}

/** Longest time to wait for the machine to become idle before a measurement. */
export const quietMs = 1_500;

type MeetingChange = Partial<Omit<Meeting, 'contender' | 'workshop' | 'hub'>> & {
  readonly sessionMs: number;
};

export function meetingOf(tournament: Tournament, contender: Contender, change: MeetingChange): Meeting {
  const { workshop, hub, zookeeper, etcd } = tournament;
  const place = contender.system === 'etcd' ? etcd : zookeeper;
  if (place === null) throw new Error('etcd is missing');
  const { connect } = place;
  return { contender, workshop, hub, connect, entries: (path) => place.entries(path), ...change };
}

/** Opens a contest for each contender. A contest that cannot be opened is left out and reported. */
export async function openContests(
  tournament: Tournament,
  scenario: string,
  contenders: readonly Contender[],
  open: (contender: Contender) => Promise<Contest>,
): Promise<Contests> {
  const contests = new Contests(tournament, scenario);
  for (const contender of contenders) {
    tournament.say(`${scenario}: ${contender.name} joins`);
    await contests.open(contender, () => open(contender));
  }
  return contests;
}

/** The contests that still take part in a scenario. */
export class Contests {
  readonly #open = new Set<Contest>();
  readonly #tournament: Tournament;
  readonly #scenario: string;

  constructor(tournament: Tournament, scenario: string) {
    this.#tournament = tournament;
    this.#scenario = scenario;
  }

  get all(): readonly Contest[] {
    return [...this.#open];
  }

  async open(contender: Contender, open: () => Promise<Contest>): Promise<Contest | null> {
    try {
      const contest = await open();
      this.#open.add(contest);
      return contest;
    } catch (error) {
      this.#fail(contender, error);
      return null;
    }
  }

  /** Runs one contest's part of a round. If the contest fails, it is closed and no longer takes part. */
  async attempt(contest: Contest, part: () => Promise<void>): Promise<void> {
    if (!this.#open.has(contest)) return;
    try {
      await part();
    } catch (error) {
      this.#fail(contest.contender, error);
      this.#open.delete(contest);
      await contest.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((contest) => contest.close()));
    this.#open.clear();
  }

  #fail(contender: Contender, error: unknown): void {
    const { failures, say } = this.#tournament;
    const line = `${this.#scenario}: ${contender.name}: ${errorMessage(error)}`;
    say(line);
    failures.push(line.split('\n')[0] ?? line);
  }
}

/** Waits until other work on the machine no longer affects the measurement, but no longer than `quietMs`. */
export async function calm({ hub }: Tournament): Promise<void> {
  await quiet(quietMs);
  hub.compareClocks();
}
