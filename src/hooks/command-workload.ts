/**
 * A workload that consists of commands. A separate process, the supervisor, runs the commands and ends the
 * leadership if this process is frozen or dead. If the supervisor itself dies, this process kills everything
 * that the supervisor was running.
 *
 * A successful takeover command may leave processes running in its process group. These processes are the
 * workload, which runs until the release. When the release command has ended, successfully or not, the
 * workload receives SIGTERM. After the grace time, it is killed and proven dead. No other command can leave
 * processes running. A process that must outlive the leadership needs its own process group, for example
 * through setsid or a service manager. Petrel neither ends such a process nor proves it dead.
 *
 * Not covered: the simultaneous death of the agent and the supervisor. In that case, the workload continues
 * without a guard, and only the fencing token protects the next leader from it.
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
  /** Environment variables for commands, in addition to those from `hookEnvironment`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Name of this incarnation of the agent. It is never reused. */
  readonly incarnation: string;
  readonly log: Logger;
  /**
   * Whether `onTakeover` is itself the workload. If so, the takeover is complete as soon as the command is
   * running. The command has no time limit, and writes to this process's own output. The leadership must end
   * when the command ends. A release ends the command and its whole process group.
   */
  readonly foreground?: boolean;
}

/** Environment variable that identifies a run's processes after the death of their supervisor. */
const runVariable = 'PETREL_RUN';

/** A supervisor counts as hung if it is still silent this long after its runs should have ended. */
const patienceMs = 10_000;

/** Delay, in ms, above which an alarm counts as late. */
const punctualMs = 100;

/** A supervisor counts as hung if it stays silent for this long after its processes were killed. */
const overdueMs = 1_000;

export class CommandWorkload implements Workload {
  readonly #commands: HookCommands;
  readonly #supervisorOptions: SupervisorOptions;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #incarnation: string;
  readonly #log: Logger;
  readonly #runs = new Map<number, Run>();
  readonly #groups: KnownGroups;
  readonly #listeners: Listeners<WorkloadEnd>;
  readonly #machine: Machine;
  readonly #supervisors: Supervisors;
  readonly #silence: Alarm;
  readonly #leaseEnd: Alarm;
  #supervisor: Supervisor | null = null;
  /** Messages that must wait while a dead supervisor's processes are being killed. Null at other times. */
  #waiting: ToSupervisor[] | null = null;
  #leadership = newSupervisedLeadership(1);
  #lastId = 0;
  #heardAtMs = 0;
  #closed = false;

  /** Starts the supervisor now if this node can lead, so that a takeover can begin without delay. */
  constructor(options: CommandWorkloadOptions) {
    const { commands, node, root, incarnation, log, clock, processes, supervisors } = options;
    this.#commands = commands;
    this.#environment = options.environment ?? {};
    this.#supervisorOptions = { node, root, passesOutput: options.foreground ?? false };
    this.#incarnation = incarnation;
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
    // If the lease has already ended, leave the end of the leadership to the supervisor, which may still be
    // starting.
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
      this.#settle(run, {
        ...nothingRun,
        result: 'aborted',
        error: 'the process that runs the hooks closed its channel before it exited',
        provenDead,
      });
    }
    this.#runs.clear();
    return provenDead;
  }

  /** Asks the supervisor to end everything that it guards or runs. Kills the supervisor if it hangs. */
  async #closeSupervisor(supervisor: Supervisor): Promise<void> {
    const contexts = [this.#leadership.release, ...this.#pending().map(({ context }) => context)];
    const patience = new Alarm(this.#machine.clock);
    const atMs = this.#machine.clock.monotonicMs() + longestMs(contexts) + patienceMs;
    patience.set(atMs, () => this.#kill(supervisor, 'did not exit'));
    await supervisor.leave();
    patience.clear();
  }

  #pending(): Run[] {
    return [...this.#runs.values()].filter(({ settled }) => !settled);
  }

  /** Kills all known groups, and all runs whose group is unknown. Resolves to true if no process is left. */
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
    return `${this.#incarnation}.${id}`;
  }

  #send(message: ToSupervisor): void {
    if (this.#waiting !== null) this.#waiting.push(message);
    else if (this.#supervisor !== null || !this.#closed)
      (this.#supervisor ?? this.#startSupervisor()).send(message);
  }

  #startSupervisor(): Supervisor {
    const supervisor = this.#supervisors.start(this.#supervisorOptions, {
      message: (message) => this.#received(message),
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

  #received(message: FromSupervisor): void {
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

  /**
   * Forgets a settled run when its process group is gone. Until then, output of the group is logged with the
   * context of the run.
   */
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
      this.#leadershipLog.info({ exitCode, signal }, 'the workload ended on its own, with exit code 0');
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

  /** Detects a supervisor that is still silent long after its runs should have ended. */
  #listenFor(): void {
    const pending = this.#pending();
    if (pending.length === 0 || this.#supervisor === null) {
      this.#silence.clear();
      return;
    }
    const silentMs = longestMs(pending.map(({ context }) => context)) + patienceMs;
    const atMs = this.#machine.clock.monotonicMs() + silentMs;
    this.#silence.set(atMs, () => this.#killHanging('did not report the processes that it runs'));
  }

  /** Ends a leadership that the supervisor should have ended by now. */
  #leaseOver({ releaseAtMs, endsAtMs }: WorkloadLease): void {
    if (!this.#leadership.begun || this.#leadership.released) return;
    const now = this.#machine.clock.monotonicMs();
    const end = () => this.#endOverdue(this.#leadership.id);
    // If this process was stalled, the whole machine may have been stalled too. The supervisor then needs
    // more time.
    if (now - endsAtMs > punctualMs) this.#leaseEnd.set(now + endsAtMs - releaseAtMs, end);
    else end();
  }

  /**
   * Kills the processes that the supervisor started, and then the supervisor itself if the leadership still
   * has not ended.
   */
  #endOverdue(leadership: number): void {
    const { clock } = this.#machine;
    const isOver = () => this.#leadership.id !== leadership || this.#leadership.released;
    // If only this process was stalled, messages from the supervisor are waiting. They must be read first.
    clock.turn(() => {
      if (isOver() || this.#supervisor === null) return;
      this.#leadershipLog.error(
        `${this.#supervisor.name} did not end the leadership before the lease expired: killing the processes that it started`,
      );
      void this.#killGroups();
      this.#leaseEnd.set(clock.monotonicMs() + overdueMs, () => {
        if (!isOver()) this.#killHanging('did not end the leadership');
      });
    });
  }

  /**
   * Kills the supervisor, unless a message from it is waiting to be read. Everything that the supervisor ran
   * is then killed too.
   */
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
      `${supervisor.name}, which runs the hooks, ${what}: it is hanging, and this agent is killing it`,
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
