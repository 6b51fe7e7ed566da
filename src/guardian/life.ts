/**
 * One run of an agent as its guardian sees it: from its start until nothing of it is left.
 *
 * While the agent is alive, the guards (`src/hooks/guards.ts`) run its hooks and end its leaderships with
 * their leases, separately for each of its groups. After the agent is gone, its session is held until
 * everything that it ran, in any group, is proven dead. Only then is the session ended.
 */
import { present } from '../errors.js';
import { Alarm } from '../hooks/alarm.js';
import { Guards } from '../hooks/guards.js';
import type { FromGuards, LeadershipLease } from '../hooks/messages.js';
import type { Machine } from '../ports/processes.js';
import type { HeldSession, SessionEnd } from './held-session.js';
import { type AskedSignal, type FromAgent, isAboutLife, type SessionNote, type ToAgent } from './messages.js';
import type { About, Report } from './report.js';
import type { ServiceManager } from './service-manager.js';

export interface AgentProcess {
  /** Keeps the order. A message to a process that has just died is lost; `gone` follows. */
  send(message: ToAgent): void;
  /** Kills it immediately, with SIGKILL. */
  kill(): void;
  /**
   * Returns the newest lease of a group that the agent has noted. The agent sends only the first lease of
   * each leadership, and any lease that is due sooner than the one before. Null if it has noted none, or
   * cannot.
   */
  lease(group: number): LeadershipLease | null;
}

export interface AgentListener {
  message(message: FromAgent): void;
  /**
   * Called last: the agent has ended, and all its messages have been reported. `how` describes the end in
   * words.
   */
  gone(how: string, code: number): void;
}

export interface LifeOptions extends Machine {
  /** Never throws. An agent that cannot be started is soon reported `gone`. */
  startAgent(listener: AgentListener): AgentProcess;
  holdSession(session: SessionNote): HeldSession;
  /** Receives the process groups that are alive now. The receiver kills them if this process dies. */
  watchOver(pgids: readonly number[]): void;
  readonly report: Report;
  readonly manager: ServiceManager;
}

export interface LifeEnd {
  /** Whether the agent must not be started again. */
  readonly isFinal: boolean;
  readonly code: number;
  /** Whether it got as far as a session. */
  readonly hasBegun: boolean;
  /**
   * Exit code if the guardian is asked to end before another agent is alive: 0, or 128 plus the signal's
   * number.
   */
  readonly codeWhenAsked: 'done' | 'signal';
  /** End of its session, if the session was left to be ended. */
  readonly session: Promise<SessionEnd> | null;
  /** For messages about this run. */
  readonly report: Report;
}

/**
 * An agent that sends nothing for this long, although it was asked to answer, is hanging. A busy agent
 * answers much sooner.
 */
const hangMs = 30_000;
/** An alarm that fires later than this was delayed. */
const punctualMs = 1_000;
/** How often to report processes that were killed but are still there. */
const loudMs = 5_000;

interface Death {
  readonly how: string;
  readonly code: number;
}

export class Life {
  /** Resolves when the agent is gone and nothing that it ran is left. Never rejects. */
  readonly over: Promise<LifeEnd>;
  readonly #options: LifeOptions;
  readonly #guards: Guards;
  readonly #agent: AgentProcess;
  readonly #hang: Alarm;
  /** Process groups that are alive, each with the number of the Petrel group that it serves. */
  readonly #living = new Map<number, number>();
  #isOfOne = true;
  #session: SessionNote | null = null;
  #hasBegun = false;
  /** The exit code that the agent announced. */
  #said: number | null = null;
  #codeAtDeath: number | null = null;
  #codeWhenAsked: LifeEnd['codeWhenAsked'] = 'done';
  #heardAtMs: number;
  #isGone = false;
  #isKilled = false;
  /** The leaderships that a dead agent left. */
  readonly #left = new Map<number, About>();
  #cleared: (() => void) | null = null;

  constructor(options: LifeOptions) {
    const { clock, processes } = options;
    this.#options = options;
    this.#hang = new Alarm(clock);
    this.#heardAtMs = clock.monotonicMs();
    const listener = { post: (message: FromGuards) => this.#post(message), idle: () => this.#cleared?.() };
    this.#guards = new Guards(listener, { clock, processes }, (group) => this.#agent.lease(group));
    let die: (death: Death) => void = () => {};
    const death = new Promise<Death>((resolve) => {
      die = resolve;
    });
    const message = (heard: FromAgent) => this.#heard(heard);
    this.#agent = options.startAgent({ message, gone: (how, code) => die({ how, code }) });
    this.over = death.then((known) => this.#clearUp(known));
    this.#ask();
  }

  /** Whether the agent is gone. Its processes may still be there. */
  get isDead(): boolean {
    return this.#isGone;
  }

  /** Whether the agent is gone or answers, as far as is known: a hanging agent is only recognized later. */
  get isWell(): boolean {
    return this.#isGone || this.#options.clock.monotonicMs() - this.#heardAtMs <= 2 * hangMs + punctualMs;
  }

  /** Passes on a request that the guardian received. */
  pass(signal: AskedSignal): void {
    this.#agent.send({ type: 'asked', signal });
  }

  #heard(message: FromAgent): void {
    this.#heardAtMs = this.#options.clock.monotonicMs();
    if (!isAboutLife(message)) this.#guards.handle(message);
    else if (message.type === 'hello') {
      this.#codeAtDeath = message.codeAtDeath;
      this.#codeWhenAsked = message.codeWhenAsked;
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
    // A hanging agent does not report this, or only when it continues.
    if (message.type === 'lease-ended') this.#reportOn(group).released(message);
    if (!this.#isGone) this.#agent.send(message);
    else if (message.type === 'outcome') this.#reportOn(group).ended(message.outcome);
  }

  /** Resolves when nothing is running and nothing is left alive. */
  #clear(reason: string): Promise<void> {
    return new Promise((resolve) => {
      this.#cleared = resolve;
      this.#guards.agentGone(reason);
    });
  }

  async #clearUp({ how: end, code }: Death): Promise<LifeEnd> {
    const how = this.#isKilled ? 'hung and was killed by its guardian' : end;
    const { clock, holdSession } = this.#options;
    const goneAtMs = clock.monotonicMs();
    for (const group of this.#guards.numbers) this.#left.set(group, this.#about(group, `the agent ${how}`));
    this.#isGone = true;
    const report = this.#report;
    // The next agent reads the settings anyway.
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
    const codeWhenAsked = this.#codeWhenAsked;
    const hasBegun = this.#hasBegun;
    return { isFinal: said !== null, code: said ?? code, hasBegun, codeWhenAsked, session, report };
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
   * Returns the report on the agent as a whole. It is about the agent's leadership, if the agent could have
   * only one.
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

  #ask(): void {
    const { clock } = this.#options;
    const askedAtMs = clock.monotonicMs();
    this.#agent.send({ type: 'there?' });
    this.#hang.set(askedAtMs + hangMs, () => {
      const isLate = clock.monotonicMs() - askedAtMs > hangMs + punctualMs;
      // If only this process was stalled, the agent's messages from that time are waiting to be read.
      clock.turn(() => {
        if (this.#isGone) return;
        if (isLate || this.#heardAtMs >= askedAtMs) return this.#ask();
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
