/**
 * A machine in simulated time: its processes can be killed, frozen and woken at any step, and start commands that
 * behave as they are told. What runs on it is the shipped CommandDuty and Guard.
 */
import { Guard } from '../../src/hooks/guard.js';
import type { Keeper, KeeperListener, Keepers } from '../../src/hooks/keepers.js';
import type { Clock } from '../../src/ports/clock.js';
import type { CommandLine, Exit, Machine, Processes, StartedCommand } from '../../src/ports/processes.js';

interface Event {
  readonly atMs: number;
  readonly number: number;
  readonly fire: () => void;
}

/** Events in the order of their instants, one after the other, each with all that follows from it at once. */
export class Timeline {
  readonly #events = new Set<Event>();
  #nowMs = 0;
  #last = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  in(delayMs: number, fire: () => void): () => void {
    const event = { atMs: this.#nowMs + Math.max(0, delayMs), number: ++this.#last, fire };
    this.#events.add(event);
    return () => this.#events.delete(event);
  }

  /** Runs everything that happens until then; `look` looks at the state after each step. */
  async run(untilMs: number, look: () => void = () => {}): Promise<void> {
    for (let event = this.#next(); event !== null && event.atMs <= untilMs; event = this.#next()) {
      this.#events.delete(event);
      this.#nowMs = event.atMs;
      event.fire();
      await new Promise<void>((resolve) => setImmediate(resolve));
      look();
    }
    this.#nowMs = untilMs;
  }

  #next(): Event | null {
    let next: Event | null = null;
    for (const event of this.#events) {
      if (
        next === null ||
        event.atMs < next.atMs ||
        (event.atMs === next.atMs && event.number < next.number)
      ) {
        next = event;
      }
    }
    return next;
  }
}

/** A process of Petrel's: what waits for it while it is frozen is done when it wakes, what waits when it is killed never. */
export class SimulatedProcess {
  readonly clock: Clock;
  readonly #timeline: Timeline;
  readonly #waiting: (() => void)[] = [];
  readonly #onEnd: (() => void)[] = [];
  #state: 'runs' | 'frozen' | 'dead' = 'runs';

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
    this.clock = {
      monotonicMs: () => timeline.nowMs,
      wallMs: () => timeline.nowMs,
      timer: (delayMs, fire) => {
        let cancelled = false;
        const cancel = timeline.in(delayMs, () =>
          this.do(() => {
            if (!cancelled) fire();
          }),
        );
        return () => {
          cancelled = true;
          cancel();
        };
      },
      turn: (fire) => this.clock.timer(0, fire),
    };
  }

  get runs(): boolean {
    return this.#state === 'runs';
  }

  get dead(): boolean {
    return this.#state === 'dead';
  }

  do(what: () => void): void {
    if (this.#state === 'runs') what();
    else if (this.#state === 'frozen') this.#waiting.push(what);
  }

  onEnd(listener: () => void): void {
    this.#onEnd.push(listener);
  }

  kill(): void {
    if (this.dead) return;
    this.#state = 'dead';
    for (const listener of this.#onEnd.splice(0)) listener();
  }

  freeze(): void {
    if (this.#state === 'runs') this.#state = 'frozen';
  }

  wake(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'runs';
    for (const what of this.#waiting.splice(0)) this.#timeline.in(0, () => this.do(what));
  }
}

/** How a process of a command behaves. */
export interface Behaviour {
  /** Infinity: until it is told to stop. */
  readonly runsMs: number;
  readonly code: number;
  /** From SIGTERM to its end; Infinity: it ignores that. */
  readonly stopsInMs: number;
  /** From SIGKILL to its end: more than nothing while it is in uninterruptible sleep. */
  readonly diesInMs: number;
}

export interface Script extends Behaviour {
  /** Left in the background when the leader starts. */
  readonly workload: Behaviour | null;
}

export interface Group {
  readonly pgid: number;
  readonly command: CommandLine;
  readonly startedAtMs: number;
  readonly leader: Member;
  readonly members: Set<Member>;
}

class Member {
  readonly #timeline: Timeline;
  readonly #behaviour: Behaviour;
  readonly #ended: (exit: Exit) => void;
  #over = false;

  constructor(timeline: Timeline, behaviour: Behaviour, ended: (exit: Exit) => void) {
    this.#timeline = timeline;
    this.#behaviour = behaviour;
    this.#ended = ended;
    const { runsMs, code } = behaviour;
    if (runsMs < Number.POSITIVE_INFINITY) timeline.in(runsMs, () => this.#end(code, null));
  }

  signal(signal: string): void {
    const { stopsInMs, diesInMs } = this.#behaviour;
    if (signal === 'SIGKILL') {
      if (diesInMs === 0) this.#end(null, signal);
      else this.#timeline.in(diesInMs, () => this.#end(null, signal));
    } else if (signal === 'SIGTERM' && stopsInMs < Number.POSITIVE_INFINITY) {
      this.#timeline.in(stopsInMs, () => this.#end(null, signal));
    }
  }

  #end(code: number | null, signal: string | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended({ code, signal, startError: null });
  }
}

export class SimulatedMachine {
  readonly timeline = new Timeline();
  readonly groups = new Map<number, Group>();
  /** Phases of the commands that were started, in their order. */
  readonly started: string[] = [];
  readonly #script: (command: CommandLine) => Script;
  readonly #latencyMs: () => number;
  readonly #keepers: SimulatedProcess[] = [];
  #lastPgid = 1000;

  /** `script` is asked once for each command that is started; `latencyMs` for each message between processes. */
  constructor(script: (command: CommandLine) => Script, latencyMs: () => number) {
    this.#script = script;
    this.#latencyMs = latencyMs;
  }

  get keeper(): SimulatedProcess | undefined {
    return this.#keepers.findLast(({ dead }) => !dead);
  }

  /** The machine as this process of it sees it. */
  seenBy(process: SimulatedProcess): Machine {
    const processes: Processes = {
      start: (command) => (process.runs ? this.#start(process, command) : neverStarted),
      signalGroup: (pgid, signal) => {
        const group = process.runs ? this.groups.get(pgid) : undefined;
        for (const member of [...(group?.members ?? [])]) member.signal(signal);
      },
      groupExists: (pgid) => this.groups.has(pgid),
      groupLives: (pgid) => this.groups.has(pgid),
      groupsWith: (variable, value) =>
        [...this.groups.values()]
          .filter(({ command }) => command.env[variable] === value)
          .map(({ pgid }) => pgid),
    };
    return { clock: process.clock, processes };
  }

  /** The keepers that this process starts. */
  keepersOf(agent: SimulatedProcess): Keepers {
    return { start: (_, listener) => this.#startKeeper(agent, listener) };
  }

  #start(starter: SimulatedProcess, command: CommandLine): StartedCommand {
    const script = this.#script(command);
    this.started.push(command.env.PETREL_PHASE ?? '');
    const pgid = ++this.#lastPgid;
    const members = new Set<Member>();
    const [exit, exited] = deferred<Exit>();
    const [closed, close] = deferred<void>();
    const add = (behaviour: Behaviour, ended: (exit: Exit) => void) => {
      const member: Member = new Member(this.timeline, behaviour, (how) => {
        members.delete(member);
        ended(how);
        if (members.size > 0) return;
        this.groups.delete(pgid);
        starter.do(close);
      });
      members.add(member);
      return member;
    };
    const leader = add(script, (how) => starter.do(() => exited(how)));
    if (script.workload !== null) add(script.workload, () => {});
    const startedAtMs = this.timeline.nowMs;
    this.groups.set(pgid, { pgid, command, startedAtMs, leader, members });
    return { pgid, stdout: null, stderr: null, exit, closed };
  }

  #startKeeper(agent: SimulatedProcess, listener: KeeperListener): Keeper {
    const keeper = new SimulatedProcess(this.timeline);
    this.#keepers.push(keeper);
    const [gone, hasGone] = deferred<void>();
    let left = false;
    const toAgent = channel(this.timeline, agent, this.#latencyMs);
    const toKeeper = channel(this.timeline, keeper, this.#latencyMs);
    const guard = new Guard(
      {
        post: (message) => {
          if (keeper.runs) toAgent(() => left || listener.message(copyOf(message)));
        },
        idle: () => {
          if (left || agent.dead) keeper.kill();
        },
      },
      this.seenBy(keeper),
    );
    const leave = () => {
      if (left) return;
      left = true;
      toKeeper(() => guard.agentGone('the agent has gone'));
    };
    agent.onEnd(leave);
    keeper.onEnd(() =>
      toAgent(() => {
        listener.gone('was killed');
        hasGone();
      }),
    );
    return {
      send: (message) => {
        if (agent.runs && !left) toKeeper(() => guard.handle(copyOf(message)));
      },
      kill: () => keeper.kill(),
      leave: () => {
        leave();
        return gone;
      },
    };
  }
}

const neverStarted: StartedCommand = {
  pgid: null,
  stdout: null,
  stderr: null,
  exit: new Promise(() => {}),
  closed: new Promise(() => {}),
};

/** Does things in another process, later, in their order. */
function channel(timeline: Timeline, reader: SimulatedProcess, latencyMs: () => number) {
  let lastAtMs = 0;
  return (what: () => void) => {
    lastAtMs = Math.max(lastAtMs, timeline.nowMs + latencyMs());
    timeline.in(lastAtMs - timeline.nowMs, () => reader.do(what));
  };
}

/** As the channel between two processes of Node.js makes it. */
function copyOf<T>(message: T): T {
  return JSON.parse(JSON.stringify(message));
}

function deferred<T>(): [Promise<T>, (value: T) => void] {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return [promise, settle];
}
