/**
 * One run of an agent, as seen by its guardian. It begins with the start of the agent, and ends when no
 * process of that run is left.
 *
 * While the agent is alive, the guards (`src/hooks/guards.ts`) run the hooks of each of its groups. They end
 * a leadership if its lease is not renewed in time. When the agent is gone, the guardian holds the agent's
 * session until everything that the agent ran, in any group, is proven dead. Only then does the guardian end
 * the session.
 */
import { present } from '../errors.js';
import { Alarm } from '../hooks/alarm.js';
import { Guards } from '../hooks/guards.js';
import type { FromGuards, LeadershipLease } from '../hooks/messages.js';
import type { Machine } from '../ports/processes.js';
import type { HeldSession, SessionEnd } from './held-session.js';
import {
  type FromAgent,
  type HandledSignal,
  isForGuardian,
  type SessionNote,
  type ToAgent,
} from './messages.js';
import type { About, Report } from './report.js';
import type { ServiceManager } from './service-manager.js';

export interface AgentProcess {
  /**
   * Sends messages in order. A message to a process that has just died is lost. In that case, `gone` is
   * called afterwards.
   */
  send(message: ToAgent): void;
  /** Kills the agent immediately, with SIGKILL. */
  kill(): void;
  /**
   * Returns the newest lease that the agent has written to shared memory for a group. Returns null if there
   * is none, or if no memory is shared. The agent sends messages only about the first lease of each
   * leadership, and about any lease that is due sooner than the previous one.
   */
  lease(group: number): LeadershipLease | null;
}

export interface AgentListener {
  message(message: FromAgent): void;
  /**
   * Called last, when the agent has ended and all its messages have been reported. `how` describes the end in
   * words.
   */
  gone(how: string, code: number): void;
}

export interface AgentRunOptions extends Machine {
  /** Starts an agent. Never throws. If it cannot be started, `gone` is called soon afterwards. */
  startAgent(listener: AgentListener): AgentProcess;
  holdSession(session: SessionNote): HeldSession;
  /** Sets the process groups that are currently alive. The receiver kills them if this process dies. */
  watchOver(pgids: readonly number[]): void;
  readonly report: Report;
  readonly manager: ServiceManager;
}

export interface AgentRunEnd {
  /** Whether the agent must not be started again. */
  readonly isFinal: boolean;
  readonly code: number;
  /** Whether the agent opened a session. */
  readonly hasBegun: boolean;
  /**
   * Exit code to use if the guardian is asked to exit while no agent is alive. `done` means 0. `signal` means
   * 128 plus the number of the signal.
   */
  readonly codeOnSignal: 'done' | 'signal';
  /** Resolves with the end of the session. Null if the guardian has no session to end. */
  readonly session: Promise<SessionEnd> | null;
  /** Report for messages about this run. */
  readonly report: Report;
}

/**
 * How long an agent may stay silent after the guardian has asked it to answer. After that, it counts as hung.
 * Even a busy agent answers much sooner.
 */
const hangMs = 30_000;
/** Delay, in ms, above which an alarm counts as late. */
const punctualMs = 1_000;
/** Interval between reports on processes that are still alive after the agent's death. */
const loudMs = 5_000;

interface Death {
  readonly how: string;
  readonly code: number;
}

export class AgentRun {
  /** Resolves when the agent is gone and nothing that it ran is left. Never rejects. */
  readonly over: Promise<AgentRunEnd>;
  readonly #options: AgentRunOptions;
  readonly #guards: Guards;
  readonly #agent: AgentProcess;
  readonly #hang: Alarm;
  /** Process groups that are alive. Each is mapped to the number of the Petrel group that it belongs to. */
  readonly #living = new Map<number, number>();
  #isOfOne = true;
  #session: SessionNote | null = null;
  #hasBegun = false;
  /** The exit code that the agent announced. */
  #said: number | null = null;
  #codeAtDeath: number | null = null;
  #codeOnSignal: AgentRunEnd['codeOnSignal'] = 'done';
  #receivedAtMs: number;
  #isGone = false;
  #isKilled = false;
  /** Leaderships that a dead agent left behind, by group. */
  readonly #left = new Map<number, About>();
  #cleared: (() => void) | null = null;

  constructor(options: AgentRunOptions) {
    const { clock, processes } = options;
    this.#options = options;
    this.#hang = new Alarm(clock);
    this.#receivedAtMs = clock.monotonicMs();
    const listener = { post: (message: FromGuards) => this.#post(message), idle: () => this.#cleared?.() };
    this.#guards = new Guards(listener, { clock, processes }, (group) => this.#agent.lease(group));
    let die: (death: Death) => void = () => {};
    const death = new Promise<Death>((resolve) => {
      die = resolve;
    });
    const message = (received: FromAgent) => this.#received(received);
    this.#agent = options.startAgent({ message, gone: (how, code) => die({ how, code }) });
    this.over = death.then((known) => this.#clearUp(known));
    this.#ping();
  }

  /** Whether the agent is gone. Processes that it started may still be running. */
  get isDead(): boolean {
    return this.#isGone;
  }

  /** Whether the agent is either gone or responding. A hung agent is recognized only after a delay. */
  get isWell(): boolean {
    return this.#isGone || this.#options.clock.monotonicMs() - this.#receivedAtMs <= 2 * hangMs + punctualMs;
  }

  /** Forwards to the agent a signal that the guardian has received. */
  pass(signal: HandledSignal): void {
    this.#agent.send({ type: 'signalled', signal });
  }

  #received(message: FromAgent): void {
    this.#receivedAtMs = this.#options.clock.monotonicMs();
    if (!isForGuardian(message)) this.#guards.handle(message);
    else if (message.type === 'hello') {
      this.#codeAtDeath = message.codeAtDeath;
      this.#codeOnSignal = message.codeOnSignal;
      this.#isOfOne = message.root !== null;
      this.#options.report.introduce(message);
    } else if (message.type === 'session') {
      this.#session = message.session;
      this.#hasBegun = true;
    } else if (message.type === 'session-over') this.#session = null;
    else if (message.type === 'ended') this.#said = message.code;
    else if (message.type === 'status') this.#options.manager.status(message.joined, message.text);
    else if (message.type === 'reloaded') this.#options.manager.reloaded();
  }

  #post(message: FromGuards): void {
    const { group } = message;
    if (message.type === 'started') this.#living.set(message.pgid, group);
    if (message.type === 'gone') this.#living.delete(message.pgid);
    if (message.type === 'started' || message.type === 'gone')
      this.#options.watchOver([...this.#living.keys()]);
    // A hung agent cannot report the end of its leadership itself, or reports it too late.
    if (message.type === 'lease-ended') this.#reportOn(group).released(message);
    if (!this.#isGone) this.#agent.send(message);
    else if (message.type === 'outcome') this.#reportOn(group).ended(message.outcome);
  }

  /** Ends everything that is left. Resolves when no hook is running and no process is alive. */
  #clear(reason: string): Promise<void> {
    return new Promise((resolve) => {
      this.#cleared = resolve;
      this.#guards.agentGone(reason);
    });
  }

  async #clearUp({ how: end, code }: Death): Promise<AgentRunEnd> {
    const how = this.#isKilled ? 'hung and was killed by its guardian' : end;
    const { clock, holdSession } = this.#options;
    const goneAtMs = clock.monotonicMs();
    for (const group of this.#guards.numbers) this.#left.set(group, this.#about(group, `the agent ${how}`));
    this.#isGone = true;
    const report = this.#report;
    // The agent can no longer reload. The next agent reads the settings when it starts.
    this.#options.manager.reloaded();
    this.#hang.clear();
    const codeAtDeath = this.#guards.hasRunWorkload ? this.#codeAtDeath : null;
    const said = this.#said ?? codeAtDeath;
    // An agent that left cleanly has already tried to end its session.
    const isLeft = this.#said !== null && this.#living.size === 0;
    const held = this.#session === null || isLeft ? null : holdSession(this.#session);
    if (this.#said === null)
      report.say('error', `the agent ${how}: stopping its workload, then ending its session`);
    const loud = new Alarm(clock);
    this.#beLoud(loud, goneAtMs, held);
    await this.#clear(`the agent ${how}`);
    loud.clear();
    const provenDeadInMs = clock.monotonicMs() - goneAtMs;
    const session = held?.end() ?? null;
    void session?.then((end) => report.sessionEnded(end, provenDeadInMs, clock.monotonicMs() - goneAtMs));
    const codeOnSignal = this.#codeOnSignal;
    const hasBegun = this.#hasBegun;
    return { isFinal: said !== null, code: said ?? code, hasBegun, codeOnSignal, session, report };
  }

  #about(group: number, reason: string | null): About {
    const logContext = this.#guards.logContext(group);
    const root = this.#isOfOne
      ? {}
      : { root: present(this.#guards.rootOf(group), 'the root of a guarded group') };
    if (logContext === null) return root;
    const { ending, ...about } = logContext;
    return { ...root, ...about, reason: ending ?? reason };
  }

  #reportOn(group: number): Report {
    const left = this.#isGone ? this.#left.get(group) : undefined;
    return this.#options.report.about(left ?? this.#about(group, null));
  }

  /**
   * Returns the report for messages about the agent as a whole. If the agent is in only one group, these
   * messages are about its leadership in that group.
   */
  get #report(): Report {
    const newest = this.#guards.numbers.at(-1);
    return this.#isOfOne && newest !== undefined ? this.#reportOn(newest) : this.#options.report;
  }

  #beLoud(alarm: Alarm, sinceMs: number, held: HeldSession | null): void {
    const { clock } = this.#options;
    alarm.set(clock.monotonicMs() + loudMs, () => {
      const named = [...this.#living].map(([pgid, group]): [number, string | null] => [
        pgid,
        this.#isOfOne ? null : this.#guards.rootOf(group),
      ]);
      this.#report.remains(new Map(named), clock.monotonicMs() - sinceMs, held);
      this.#beLoud(alarm, sinceMs, held);
    });
  }

  #ping(): void {
    const { clock } = this.#options;
    const sentAtMs = clock.monotonicMs();
    this.#agent.send({ type: 'there?' });
    this.#hang.set(sentAtMs + hangMs, () => {
      const isLate = clock.monotonicMs() - sentAtMs > hangMs + punctualMs;
      // If only this process was stalled, messages from the agent are waiting. They must be read first.
      clock.turn(() => {
        if (this.#isGone) return;
        if (isLate || this.#receivedAtMs >= sentAtMs) return this.#ping();
        this.#report.say(
          'error',
          `the agent has not responded for ${hangMs / 1000} s: the guardian is killing it`,
        );
        this.#isKilled = true;
        this.#agent.kill();
      });
    });
  }
}
