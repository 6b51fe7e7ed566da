/**
 * Workload done by commands. They run in the supervisor, a process of its own that also ends the leadership
 * when this process is frozen or dead; when the supervisor itself dies, this process kills what it ran.
 *
 * A takeover command that succeeds may leave processes in its process group: the workload. It lives until the
 * release: when the release command has ended, well or not, what is left of the workload is told to stop,
 * killed after the grace time and proven dead. No other command leaves anything. What should outlive all this
 * must have a process group of its own (a service manager, setsid), and then nobody here ends it or proves it
 * dead.
 *
 * Not covered: agent and supervisor killed at the same instant. Then the workload goes on unguarded, and only
 * the fencing token stands between it and the next leader.
 */

import { Listeners } from '../listeners.js';
import type { Logger } from '../log.js';
import { named } from '../model/named-slot.js';
import type { Machine } from '../ports/processes.js';
import type {
  HookContext,
  HookResult,
  HookRun,
  Phase,
  Workload,
  WorkloadEnd,
  WorkloadLease,
} from '../ports/workload.js';
import { Alarm } from './alarm.js';
import { argvOf, type Command, commandText, hookNames } from './command.js';
import { hookEnvironment } from './environment.js';
import { KnownGroups } from './known-groups.js';
import { type FromSupervisor, type RunRequest, type ToSupervisor, unasked } from './messages.js';
import { leadershipLogOf, logOf, logOutcome, nothingRun, notRun } from './outcomes.js';
import { longestMs, newSupervisedLeadership, type Run } from './supervised-leadership.js';
import type { Supervisor, SupervisorOptions, Supervisors } from './supervisors.js';

export interface HookCommands {
  readonly onPrepare: Command | null;
  readonly onTakeover: Command | null;
  readonly onRelease: Command | null;
  readonly onFence: Command | null;
}

export interface CommandWorkloadOptions extends Machine {
  readonly supervisors: Supervisors;
  readonly commands: HookCommands;
  readonly node: string;
  readonly root: string;
  /** What commands find in their environment beside what `hookEnvironment` has. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A name for this life of the agent, never given again. */
  readonly life: string;
  readonly log: Logger;
  /**
   * `onTakeover` is itself the workload: it has taken over as soon as it runs, there is no time limit, its
   * output goes to this process's own, and the leadership has to end when it does. A release ends it, its
   * whole group.
   */
  readonly foreground?: boolean;
}

/** By this a run's processes are found when their supervisor died before it could tell of them. */
const runVariable = 'PETREL_RUN';

/** A supervisor that takes this much longer than what it runs may take hangs. */
const patienceMs = 10_000;

/** An alarm that rings later than this was held up. */
const punctualMs = 100;

/** A supervisor that has nothing to say so long after what it ran was killed hangs. */
const overdueMs = 1_000;

export class CommandWorkload implements Workload {
  readonly #commands: HookCommands;
  readonly #supervisorOptions: SupervisorOptions;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #life: string;
  readonly #log: Logger;
  readonly #runs = new Map<number, Run>();
  readonly #groups: KnownGroups;
  readonly #listeners: Listeners<WorkloadEnd>;
  readonly #machine: Machine;
  readonly #supervisors: Supervisors;
  readonly #silence: Alarm;
  readonly #leaseEnd: Alarm;
  #supervisor: Supervisor | null = null;
  /** What waits while the remains of a dead supervisor are cleared away. */
  #waiting: ToSupervisor[] | null = null;
  #leadership = newSupervisedLeadership(1);
  #lastId = 0;
  #heardAtMs = 0;
  #closed = false;

  /** Starts the supervisor at once if this node can lead, so that a takeover does not wait for it. */
  constructor(options: CommandWorkloadOptions) {
    const { commands, node, root, life, log, foreground = false, clock, processes, supervisors } = options;
    this.#commands = commands;
    this.#environment = options.environment ?? {};
    this.#supervisorOptions = { node, root, passesOutput: foreground };
    this.#life = life;
    this.#log = log;
    this.#listeners = new Listeners(log, 'the workload');
    this.#machine = { clock, processes };
    this.#supervisors = supervisors;
    this.#groups = new KnownGroups(this.#machine, (pgid) => this.#groupGone(pgid));
    this.#silence = new Alarm(clock);
    this.#leaseEnd = new Alarm(clock);
    if (this.has('takeover')) this.#startSupervisor();
  }

  has(phase: Phase): boolean {
    const { onTakeover, onRelease } = this.#commands;
    if (phase === 'takeover' || phase === 'release') return onTakeover !== null || onRelease !== null;
    return this.#commands[hookNames[phase]] !== null;
  }

  run(context: HookContext): HookRun {
    if (!this.has(context.phase)) return { outcome: Promise.resolve(nothingRun), abort: () => {} };
    if (this.#closed) {
      const outcome = { ...notRun('closed'), provenDead: context.phase !== 'release' };
      return { outcome: Promise.resolve(outcome), abort: () => {} };
    }
    const id = ++this.#lastId;
    if (context.phase === 'takeover') this.#leadership.begun = true;
    const outcome = new Promise<HookResult>((settle) => {
      const log = logOf(this.#log, context);
      const due = context.phase === 'release';
      this.#runs.set(id, {
        context,
        leadership: this.#leadership.id,
        log,
        settle,
        settled: false,
        due,
        pgid: null,
      });
    });
    this.#send({ type: 'run', request: this.#request(id, context) });
    this.#listenFor();
    return {
      outcome,
      abort: (reason, killAtMs = Number.POSITIVE_INFINITY) => {
        const run = this.#runs.get(id);
        if (run === undefined || run.settled) return;
        run.due = false;
        this.#send({ type: 'abort', id, reason, killAtMs: Number.isFinite(killAtMs) ? killAtMs : null });
      },
    };
  }

  holdLease(lease: WorkloadLease, release: HookContext): void {
    if (this.#closed || !this.has('release')) return;
    const known = this.#leadership.release === release;
    this.#leadership.lease = lease;
    this.#leadership.release = release;
    if (this.#supervisor === null && this.#waiting === null) this.#startSupervisor();
    else {
      if (!known) this.#send({ type: 'guard', release: this.#request(unasked, release), begun: false });
      this.#send({ type: 'lease', leadership: this.#leadership.id, ...lease });
    }
    // One that has ended already is the supervisor's affair: it may be starting still.
    if (this.#machine.clock.monotonicMs() < lease.endsAtMs) {
      this.#leaseEnd.set(lease.endsAtMs, () => this.#leaseOver(lease));
    }
  }

  endLeadership(): void {
    if (this.#supervisor !== null) this.#send({ type: 'end-leadership', leadership: this.#leadership.id });
    this.#nextLeadership();
  }

  onEnd(listener: (end: WorkloadEnd) => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<boolean> {
    this.#closed = true;
    this.#silence.clear();
    this.#leaseEnd.clear();
    if (this.#supervisor !== null) await this.#closeSupervisor(this.#supervisor);
    const provenDead = await this.#killGroups();
    for (const run of this.#runs.values()) {
      this.#settle(run, { ...notRun('closed'), error: 'closed its channel before it exited', provenDead });
    }
    this.#runs.clear();
    return provenDead;
  }

  /** Lets it end what it guards and runs; one that hangs is killed. */
  async #closeSupervisor(supervisor: Supervisor): Promise<void> {
    const contexts = [this.#leadership.release, ...this.#pending().map(({ context }) => context)];
    const patience = new Alarm(this.#machine.clock);
    const atMs = this.#machine.clock.monotonicMs() + longestMs(contexts) + patienceMs;
    patience.set(atMs, () => this.#kill(supervisor, 'does not exit'));
    await supervisor.leave();
    patience.clear();
  }

  #pending(): Run[] {
    return [...this.#runs.values()].filter(({ settled }) => !settled);
  }

  /**
   * True when nothing is left of any group that the supervisor had not reported gone, nor of what it may have
   * started without having been able to report that.
   */
  #killGroups(): Promise<boolean> {
    const { begun, released } = this.#leadership;
    const unheard = [...this.#runs].filter(([, { settled, pgid }]) => !settled && pgid === null);
    const ids = [...unheard.map(([id]) => id), ...(begun && !released ? [unasked] : [])];
    return this.#groups.kill(
      runVariable,
      ids.map((id) => this.#nameOf(id)),
    );
  }

  #request(id: number, context: HookContext): RunRequest {
    const hook = hookNames[context.phase];
    const command = this.#commands[hook];
    const foreground = this.#supervisorOptions.passesOutput && context.phase === 'takeover';
    const ofLeadership = context.phase === 'takeover' || context.phase === 'release';
    return {
      id,
      leadership: ofLeadership ? this.#leadership.id : 0,
      phase: context.phase,
      term: context.term,
      slot: named(context.slot, context.slots).slot ?? null,
      name: foreground ? 'the workload' : hook,
      foreground,
      command: command === null ? null : { ...argvOf(command), text: commandText(command) },
      env: { ...this.#environment, ...hookEnvironment(context), [runVariable]: this.#nameOf(id) },
      timeoutMs: context.timeoutMs,
      graceMs: context.graceMs,
    };
  }

  #nameOf(id: number): string {
    return `${this.#life}.${id}`;
  }

  #send(message: ToSupervisor): void {
    if (this.#waiting !== null) this.#waiting.push(message);
    else if (this.#supervisor !== null || !this.#closed)
      (this.#supervisor ?? this.#startSupervisor()).send(message);
  }

  #startSupervisor(): Supervisor {
    const supervisor = this.#supervisors.start(this.#supervisorOptions, {
      message: (message) => this.#heard(message),
      gone: (how) => {
        if (this.#supervisor === supervisor) void this.#supervisorGone(supervisor.name, how);
      },
    });
    this.#supervisor = supervisor;
    for (const pgid of this.#groups.all) supervisor.send({ type: 'adopt', pgid });
    const { id, lease, release, begun, released } = this.#leadership;
    if (release !== null) {
      supervisor.send({ type: 'guard', release: this.#request(unasked, release), begun: begun && !released });
    }
    if (lease !== null) supervisor.send({ type: 'lease', leadership: id, ...lease });
    return supervisor;
  }

  #heard(message: FromSupervisor): void {
    this.#heardAtMs = this.#machine.clock.monotonicMs();
    if (message.type === 'gone') this.#groups.gone(message.pgid);
    else if (message.type === 'lease-ended') this.#leaseEnded(message);
    else if (message.type === 'workload-ended') this.#workloadEnded(message.leadership, message.outcome);
    else {
      const run = this.#runs.get(message.id);
      if (message.type === 'started') this.#started(message.pgid, run);
      else if (message.type === 'outcome') this.#ended(message.id, message.outcome, run);
      else {
        const log = run?.log ?? this.#leadershipLog;
        if (message.type === 'line') log.info({ stream: message.stream }, message.text);
        else log.warn(`${message.lines} lines of output were dropped because they came too fast`);
      }
    }
    this.#listenFor();
  }

  #started(pgid: number, run: Run | undefined): void {
    this.#groups.add(pgid);
    if (run === undefined) return;
    run.pgid = pgid;
    run.log.info(`${hookNames[run.context.phase]} started`);
  }

  #ended(id: number, outcome: HookResult, run: Run | undefined): void {
    if (run === undefined) return;
    if (run.context.phase === 'release' && run.leadership === this.#leadership.id)
      this.#leadership.released = true;
    this.#settle(run, outcome);
    if (run.pgid === null) this.#runs.delete(id);
  }

  #settle(run: Run, outcome: HookResult): void {
    if (run.settled) return;
    run.settled = true;
    logOutcome(run.log, hookNames[run.context.phase], outcome);
    run.settle(outcome);
  }

  /** What a run wrote is logged as its own until its group has gone. */
  #groupGone(pgid: number): void {
    for (const [id, run] of this.#runs) {
      if (run.pgid !== pgid) continue;
      run.pgid = null;
      if (run.settled) this.#runs.delete(id);
    }
  }

  #leaseEnded({ leadership, outcome, leaseLeftMs }: Extract<FromSupervisor, { type: 'lease-ended' }>): void {
    if (leadership !== this.#leadership.id) return;
    const log = logOf(this.#log, this.#leadership.release);
    logOutcome(log, `onRelease, run by ${this.#supervisor?.name},`, outcome);
    this.#nextLeadership();
    this.#listeners.notify({ cause: 'lease-ended', release: outcome, leaseLeftMs });
  }

  #workloadEnded(leadership: number, outcome: HookResult): void {
    if (leadership !== this.#leadership.id) return;
    const { exitCode, signal, error } = outcome;
    if (error === null)
      this.#leadershipLog.info({ exitCode, signal }, 'the workload ended by itself, with exit code 0');
    else this.#leadershipLog.warn({ exitCode, signal }, error);
    this.#listeners.notify({ cause: 'workload-ended', workload: outcome });
  }

  async #supervisorGone(name: string, how: string): Promise<void> {
    this.#supervisor = null;
    this.#silence.clear();
    if (this.#closed) return;
    this.#leadershipLog.error(`${name}, which runs the hooks, ${how}: killing the processes that it started`);
    this.#waiting = [];
    const cut = [...this.#runs];
    const { begun, released } = this.#leadership;
    const provenDead = await this.#killGroups();
    if (this.#closed) return;
    const reason = `${name} ${how}`;
    if (begun && !released) this.#listeners.notify({ cause: 'guard-lost', reason, provenDead });
    const due = cut.filter(([, run]) => run.due && !run.settled && run.leadership === this.#leadership.id);
    for (const [id, run] of cut) {
      if (due.some(([dueId]) => dueId === id)) continue;
      this.#settle(run, { ...notRun(reason), result: 'failed', error: reason, provenDead });
      this.#runs.delete(id);
    }
    const waiting = this.#waiting;
    this.#waiting = null;
    for (const [id, run] of due) {
      run.due = false;
      run.pgid = null;
      this.#send({ type: 'run', request: this.#request(id, run.context) });
    }
    for (const message of waiting) this.#send(message);
  }

  /** A supervisor that says nothing of a run long after its limits hangs. */
  #listenFor(): void {
    const pending = this.#pending();
    if (pending.length === 0 || this.#supervisor === null) {
      this.#silence.clear();
      return;
    }
    const silentMs = longestMs(pending.map(({ context }) => context)) + patienceMs;
    const atMs = this.#machine.clock.monotonicMs() + silentMs;
    this.#silence.set(atMs, () => this.#killHanging('does not report the processes that it runs'));
  }

  /** The supervisor should have ended the leadership by now. */
  #leaseOver({ releaseAtMs, endsAtMs }: WorkloadLease): void {
    if (!this.#leadership.begun || this.#leadership.released) return;
    const now = this.#machine.clock.monotonicMs();
    const end = () => this.#endOverdue(this.#leadership.id);
    // If this process stood still the machine may have, and the supervisor is at it only now.
    if (now - endsAtMs > punctualMs) this.#leaseEnd.set(now + endsAtMs - releaseAtMs, end);
    else end();
  }

  /** Kills what the supervisor ran, and then a supervisor that still says nothing of it. */
  #endOverdue(leadership: number): void {
    const { clock } = this.#machine;
    const isOver = () => this.#leadership.id !== leadership || this.#leadership.released;
    // If it was this process that stood still, what the supervisor said meanwhile waits to be read.
    clock.turn(() => {
      if (isOver() || this.#supervisor === null) return;
      this.#leadershipLog.error(
        `${this.#supervisor.name} did not end the leadership before the lease expired: killing the processes that it started`,
      );
      void this.#killGroups();
      this.#leaseEnd.set(clock.monotonicMs() + overdueMs, () => {
        if (!isOver()) this.#killHanging('does not end the leadership');
      });
    });
  }

  /** Kills the supervisor, and so what it ran, unless it has something to say now. */
  #killHanging(what: string): void {
    const supervisor = this.#supervisor;
    const rangAtMs = this.#machine.clock.monotonicMs();
    this.#machine.clock.turn(() => {
      if (supervisor === null || this.#heardAtMs >= rangAtMs || this.#supervisor !== supervisor) return;
      this.#kill(supervisor, what);
    });
  }

  #kill(supervisor: Supervisor, what: string): void {
    this.#leadershipLog.error(
      `${supervisor.name}, which runs the hooks, ${what}: it hangs, and this agent kills it`,
    );
    supervisor.kill(what);
  }

  #nextLeadership(): void {
    this.#leaseEnd.clear();
    this.#leadership = newSupervisedLeadership(this.#leadership.id + 1);
  }

  get #leadershipLog(): Logger {
    return leadershipLogOf(this.#log, this.#leadership.release);
  }
}
