/** The election of one contender, with its participants, its leader, and its changes of leader. */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../src/errors.js';
import { until } from '../test/support/until.js';
import type { Contender, Seat, Workshop } from './contenders.js';
import type { ElectionEvent, Hub } from './hub.js';
import { cpuSecondsOfEnded, cpuSecondsOfTree } from './machine.js';
import { Participant } from './participant.js';

export interface Meeting {
  readonly contender: Contender;
  readonly workshop: Workshop;
  readonly hub: Hub;
  /** Address of the servers. */
  readonly connect: string;
  readonly sessionMs: number;
  /** Returns the number of entries below a path. */
  entries(path: string): Promise<number>;
  readonly hasWorkload?: boolean;
  readonly isKilled?: boolean;
}

/** Numbers the contests to make names unique. A name identifies the election that an event belongs to. */
let contests = 0;
const patienceMs = 60_000;
const patienceOfEachMs = 300;
/** Time that a participant needs to watch its predecessor after it has entered the queue. */
const settlingMs = 150;

export class Contest {
  readonly path: string;
  leader = '';
  readonly #meeting: Meeting;
  readonly #participants = new Map<string, Participant>();
  readonly #id: string;
  #started = 0;
  #size = 0;

  constructor(meeting: Meeting) {
    this.#meeting = meeting;
    contests++;
    this.#id = `e${contests}`;
    this.path = `/bench-${process.pid}-${this.#id}`;
  }

  /** Starts `size` processes. The first one already leads when all of them are in the queue. */
  static async open(meeting: Meeting, size: number): Promise<Contest> {
    const contest = new Contest(meeting);
    try {
      const mark = meeting.hub.mark;
      await contest.join();
      await contest.anybody(mark);
      while (contest.#size < size) await contest.join();
      await contest.complete();
    } catch (error) {
      await contest.close();
      throw error;
    }
    return contest;
  }

  /** Starts `size` participants in one process. */
  static async openMany(meeting: Meeting, size: number): Promise<Contest> {
    const contest = new Contest(meeting);
    try {
      const mark = meeting.hub.mark;
      await contest.#start(`${contest.#id}-m`, size);
      await contest.anybody(mark);
      await contest.complete();
    } catch (error) {
      await contest.close();
      throw error;
    }
    return contest;
  }

  get contender(): Contender {
    return this.#meeting.contender;
  }

  get participants(): readonly Participant[] {
    return [...this.#participants.values()];
  }

  get leading(): Participant {
    const leading = this.#participants.get(this.leader);
    if (leading === undefined) throw new Error(`${this.contender.name}: ${this.leader} does not run`);
    return leading;
  }

  /** The process that contains all participants. */
  get holder(): Participant {
    const [holder] = this.participants;
    if (holder === undefined) throw new Error(`${this.contender.name}: nobody runs`);
    return holder;
  }

  /**
   * Returns the CPU seconds of all processes of the participants, and of all processes that have ended and
   * that this process has waited for. So the difference between two values includes participants that ended.
   */
  async cpuSeconds(): Promise<number> {
    const trees = await Promise.all(this.participants.map(({ pid }) => cpuSecondsOfTree(pid)));
    return trees.reduce((sum, one) => sum + one, await cpuSecondsOfEnded(process.pid));
  }

  /** Starts one more process. */
  join(): Promise<Participant> {
    this.#started++;
    return this.#start(`${this.#id}-${this.#started}`, 1);
  }

  /** Adds a participant to the process that contains all of them, to replace one that has left. */
  joinHolder(): void {
    this.#started++;
    this.holder.say(`join ${this.#id}-${this.#started}`);
  }

  /** Removes the leader from the contest, and returns it. */
  takeLeader(): Participant {
    const { leading } = this;
    this.#participants.delete(leading.name);
    this.#size--;
    return leading;
  }

  /** Waits for the next leader, and records it as the leader. */
  async anybody(mark: number, timeoutMs = patienceMs): Promise<ElectionEvent> {
    const { hub, contender } = this.#meeting;
    const describe = `a leader of ${contender.name}`;
    const isLeader = ({ what, name }: ElectionEvent) =>
      what === 'leads' && name !== this.leader && this.#isOwn(name);
    const ended = Promise.all(this.participants.map((participant) => participant.ended)).then(() => {
      throw new Error(`${describe} is waited for, and all its processes have ended`);
    });
    const event = await Promise.race([hub.event(isLeader, { mark, timeoutMs, describe }), ended]).catch(
      async (error: unknown) => Promise.reject(await this.#withLogs(error)),
    );
    this.leader = event.name;
    return event;
  }

  /** Returns the events of this contest's participants since the mark. */
  since(mark: number): readonly ElectionEvent[] {
    return this.#meeting.hub.since(mark).filter(({ name }) => this.#isOwn(name));
  }

  /** Waits until all participants are in the queue. */
  async complete(): Promise<void> {
    const queue = this.contender.queue(this.path);
    const stand = async () => {
      const entries = await this.#meeting.entries(queue);
      if (entries !== this.#size) throw new Error(`${entries} stand there`);
      return true;
    };
    await until(stand, {
      timeoutMs: patienceMs + this.#size * patienceOfEachMs,
      describe: `${this.#size} participants of ${this.contender.name} to stand in the queue`,
    }).catch(async (error: unknown) => Promise.reject(await this.#withLogs(error)));
    await sleep(settlingMs);
  }

  async close(): Promise<void> {
    await Promise.all(this.participants.map((participant) => participant.end()));
    this.#participants.clear();
  }

  async #start(name: string, count: number): Promise<Participant> {
    const { contender, workshop, hub, connect, sessionMs } = this.#meeting;
    const { hasWorkload = false, isKilled = false } = this.#meeting;
    const seat: Seat = { connect, path: this.path, sessionMs, name, count, hasWorkload, isKilled };
    const participant = await Participant.start(contender, seat, workshop, hub);
    this.#participants.set(name, participant);
    this.#size += count;
    return participant;
  }

  #isOwn(name: string): boolean {
    return name.startsWith(`${this.#id}-`);
  }

  async #withLogs(error: unknown): Promise<Error> {
    const logs = await Promise.all(this.participants.map(async (one) => `${one.name}: ${await one.log()}`));
    return new Error(`${errorMessage(error)}\n${logs.join('\n')}`, { cause: error });
  }
}
