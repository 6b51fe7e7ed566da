/**
 * One life of an agent as its guardian sees it: from its start until nothing of it is left.
 *
 * While the agent lives, the guards (`src/hooks/guards.ts`) run its hooks and end its leaderships with their
 * leases, those of each group that it is in beside those of the others. When the agent has gone, its session
 * is held until everything that it ran, in whatever group, is proven dead, and only then ended.
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
  /** In order. What is sent to a process that has just died is lost; `gone` follows. */
  send(message: ToAgent): void;
  /** At once, by SIGKILL. */
  kill(): void;
  /**
   * The newest lease of a group that it has noted: those that it sends are only the first of each leadership,
   * and any that is due sooner than the one before. Null: it has noted none, or cannot.
   */
  lease(group: number): LeadershipLease | null;
}

export interface AgentListener {
  message(message: FromAgent): void;
  /** Last: it has ended, and all that it said has been told. `how` in words. */
  gone(how: string, code: number): void;
}

export interface LifeOptions extends Machine {
  /** Never throws: one that cannot be started is `gone`, soon. */
  startAgent(listener: AgentListener): AgentProcess;
  holdSession(session: SessionNote): HeldSession;
  /** The groups that live now. Whoever hears of it kills them should this process die. */
  watchOver(pgids: readonly number[]): void;
  readonly report: Report;
  readonly manager: ServiceManager;
}

export interface LifeEnd {
  /** It is not to be started again. */
  readonly isFinal: boolean;
  readonly code: number;
  /** It got as far as a session. */
  readonly hasBegun: boolean;
  /**
   * What to exit with when the end is asked for before another agent lives: 0, or 128 and the signal's
   * number.
   */
  readonly codeWhenAsked: 'done' | 'signal';
  /** The end of its session, if that was left to be ended. */
  readonly session: Promise<SessionEnd> | null;
  /** For what is said of it. */
  readonly report: Report;
}

/**
 * An agent that says nothing for so long, though asked, hangs: much longer than a busy one needs to answer.
 */
const hangMs = 30_000;
/** An alarm that rings later than this was held up. */
const punctualMs = 1_000;
/** What was killed and is still there is told of this often. */
const loudMs = 5_000;

interface Death {
  readonly how: string;
  readonly code: number;
}

export class Life {
  /** Resolves when it is over and nothing that it ran is left. Never rejects. */
  readonly over: Promise<LifeEnd>;
  readonly #options: LifeOptions;
  readonly #guards: Guards;
  readonly #agent: AgentProcess;
  readonly #hang: Alarm;
  /** Process groups that live, and the number of the group that each is of. */
  readonly #living = new Map<number, number>();
  #isOfOne = true;
  #session: SessionNote | null = null;
  #hasBegun = false;
  /** The code that the agent said it ends with. */
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

  /** The agent has gone; what it ran may not have. */
  get isDead(): boolean {
    return this.#isGone;
  }

  /**
   * The agent has gone, or it answers: as far as can be known, for one that hangs is known for it only later.
   */
  get isWell(): boolean {
    return this.#isGone || this.#options.clock.monotonicMs() - this.#heardAtMs <= 2 * hangMs + punctualMs;
  }

  /** Passes on what somebody asked of the guardian. */
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
    // An agent that hangs says nothing of it, or only when it goes on.
    if (message.type === 'lease-ended') this.#reportOn(group).released(message);
    if (!this.#isGone) this.#agent.send(message);
    else if (message.type === 'outcome') this.#reportOn(group).ended(message.outcome);
  }

  /** Resolves when nothing runs and nothing lives. */
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
    // An agent that left in good order has already tried to end its session.
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

  /** What is said of the agent as a whole is about its leadership, if it could have but one. */
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
      // If it was this process that stood still, what the agent said meanwhile waits to be read.
      clock.turn(() => {
        if (this.#isGone) return;
        if (isLate || this.#heardAtMs >= askedAtMs) return this.#ask();
        this.#report.say(
          'error',
          `the agent has not responded for ${hangMs / 1000} s: the guardian kills the agent`,
        );
        this.#isKilled = true;
        this.#agent.kill();
      });
    });
  }
}
