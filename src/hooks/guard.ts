/**
 * Runs hooks one after the other, and guards the leadership. If the lease is not renewed in time, or if the
 * agent dies, the guard aborts the running hook and runs the release hook. It kills the remaining processes
 * of the leadership before the lease ends.
 *
 * If the whole machine was stalled until after the lease ended, the guard kills everything immediately. It
 * still runs the release hook, to release resources other than processes, such as an address or a mount.
 *
 * While a machine is suspended, its monotonic clock stops. After the machine resumes, the lease therefore
 * still seems valid, until the agent's first exchange with ZooKeeper shows that the session has ended.
 */
import type { NamedSlot } from '../model/named-slot.js';
import type { Machine } from '../ports/processes.js';
import type { HookResult, WorkloadLease } from '../ports/workload.js';
import { Alarm } from './alarm.js';
import { GroupRegister } from './group-register.js';
import { type GuardedLeadership, newGuardedLeadership, releaseOf } from './guarded-leadership.js';
import { HookProcess } from './hook-process.js';
import {
  type FromSupervisor,
  type LeadershipLease,
  type RunRequest,
  type ToSupervisor,
  unasked,
} from './messages.js';
import { nothingRun, notRun } from './outcomes.js';
import { Queue, type Running } from './queue.js';

/** A hook is aborted or killed after these fractions of the time until the last kill. */
const takeoverAbortShare = 1 / 3;
const releaseShare = 0.6;
const releaseKillShare = 0.8;
/** Maximum time from the last kill to the end of the lease. Killed processes need this time to disappear. */
const maxKillMarginMs = 50;
const never = Number.POSITIVE_INFINITY;

export interface GuardListener {
  post(message: FromSupervisor): void;
  /** Called when no request is running or waiting, and no process is alive. */
  idle(): void;
}

export class Guard {
  readonly #listener: GuardListener;
  readonly #machine: Machine;
  readonly #noted: () => LeadershipLease | null;
  readonly #groups: GroupRegister;
  readonly #queue: Queue;
  readonly #leaseAlarm: Alarm;
  readonly #lastKill: Alarm;
  #leadership = newGuardedLeadership(0);
  /** Outcomes that are not reported until the end of the leadership has been reported. */
  readonly #heldBack: { id: number; outcome: HookResult }[] = [];
  /** Ids of requests for a release that the guard had already begun. They get the outcome of that release. */
  readonly #attached: number[] = [];
  /** The newest foreground workload: its leadership and its outcome. */
  #workload: { readonly leadership: number; readonly outcome: Promise<HookResult> } | null = null;

  /**
   * `noted` returns the agent's newest lease. The agent may share leases this way instead of sending them.
   */
  constructor(listener: GuardListener, machine: Machine, noted: () => LeadershipLease | null = () => null) {
    this.#listener = listener;
    this.#machine = machine;
    this.#noted = noted;
    this.#leaseAlarm = new Alarm(machine.clock);
    this.#lastKill = new Alarm(machine.clock);
    this.#groups = new GroupRegister(machine, (pgid) => {
      listener.post({ type: 'gone', pgid });
      this.#whenIdle();
    });
    this.#queue = new Queue({
      perform: (running) => this.#perform(running),
      settled: (request, outcome) => this.#settled(request, outcome),
      idle: () => this.#whenIdle(),
    });
  }

  handle(message: ToSupervisor): void {
    if (message.type === 'run') this.#submit(message.request);
    else if (message.type === 'abort') {
      this.#queue.abort(({ id }) => id === message.id, message.reason, message.killAtMs ?? never);
    } else if (message.type === 'guard') {
      const leadership = this.#open(message.release.leadership);
      if (leadership !== null) {
        leadership.release = message.release;
        leadership.begun ||= message.begun;
      }
    } else if (message.type === 'lease') this.#setLease(message);
    else if (message.type === 'end-leadership') this.#markReleased(message.leadership);
    else this.#groups.adopt(message.pgid);
  }

  /** Whether a foreground workload was started, in this leadership or an earlier one. */
  get hasRunWorkload(): boolean {
    return this.#workload !== null;
  }

  /**
   * Slot and term of the guarded leadership. If it is ending, also the reason. Null if no leadership is
   * guarded.
   */
  get logContext(): (NamedSlot & { readonly term: number; readonly ending: string | null }) | null {
    const { lease, release, ending } = this.#leadership;
    if (lease === null || release === null) return null;
    const { slot, term } = release;
    return { ...(slot === null ? {} : { slot }), term, ending };
  }

  /** Records that the agent is gone, so no more requests will come. */
  agentGone(reason: string): void {
    const { begun, released, ending } = this.#leadership;
    if (begun && !released && ending === null) this.#releaseUnasked(reason);
    else this.#queue.abort(isNoRelease, reason);
    this.#whenIdle();
  }

  #submit(request: RunRequest): void {
    const leadership = request.leadership === 0 ? null : this.#open(request.leadership);
    // If the leadership ended before its takeover began, skip the release: another node may already lead.
    if (request.phase === 'release' && this.#waitsToBegin(leadership)) this.#lookAtLease();
    if (request.leadership !== 0 && leadership === null) {
      this.#post(request.id, notRun('the leadership has ended'));
    } else if (leadership !== null && leadership.ending !== null && !leadership.releaseRequested) {
      this.#submitLate(request, leadership, leadership.ending);
    } else {
      if (request.phase === 'release') {
        this.#leadership.begun = true;
        this.#queue.abort(isNoRelease, 'a release started first');
      }
      this.#queue.add(request);
    }
  }

  #waitsToBegin(leadership: GuardedLeadership | null): boolean {
    if (leadership === null || leadership.begun) return false;
    return this.#queue.has((request) => request.phase === 'takeover' && request.leadership === leadership.id);
  }

  /** Answers a request that arrives after the guard itself has begun to end the leadership. */
  #submitLate(request: RunRequest, leadership: GuardedLeadership, ending: string): void {
    const outcome = request.phase === 'release' ? leadership.ended : notRun(ending);
    if (outcome === null) this.#attached.push(request.id);
    else if (leadership.ended === null) this.#heldBack.push({ id: request.id, outcome });
    else this.#post(request.id, outcome);
  }

  /**
   * Returns the leadership with this id. Returns null if the id is lower than that of the current leadership.
   * If the id is higher, ends the current leadership and begins a new one.
   */
  #open(id: number): GuardedLeadership | null {
    if (id < this.#leadership.id) return null;
    if (id > this.#leadership.id) {
      this.#leaseAlarm.clear();
      this.#lastKill.clear();
      this.#leadership = newGuardedLeadership(id);
      this.#queue.abort(
        ({ phase, leadership }) => phase === 'takeover' && leadership < id,
        'its leadership has ended',
      );
      this.#groups.spare(id);
    }
    return this.#leadership;
  }

  #setLease({ leadership: id, releaseAtMs, endsAtMs }: LeadershipLease): void {
    const leadership = this.#open(id);
    if (leadership === null) return;
    const lease = { releaseAtMs, endsAtMs };
    if (leadership.ending !== null) {
      this.#shorten(leadership, leadership.ending, lease);
      return;
    }
    leadership.lease = lease;
    this.#leaseAlarm.set(releaseAtMs, () => this.#leaseIsDue());
  }

  /** Brings the end of a leadership forward if its new lease ends sooner. Never postpones it. */
  #shorten(leadership: GuardedLeadership, reason: string, lease: WorkloadLease): void {
    if (leadership.released || leadership.ended !== null) return;
    if (leadership.lease === null || lease.endsAtMs >= leadership.lease.endsAtMs) return;
    leadership.lease = lease;
    const lastKillAtMs = this.#lastKillAtMs();
    const now = this.#machine.clock.monotonicMs();
    this.#lastKill.set(Math.max(now, lastKillAtMs), () => this.#killAll(reason));
    this.#hurry(now, lastKillAtMs - now);
  }

  #leaseIsDue(): void {
    this.#lookUpLease();
    // If this process was stalled, the alarm is late. Read messages first: a renewal may be waiting.
    if (this.#leaseAlarm.atMs === never) this.#machine.clock.turn(() => this.#lookAtLease());
  }

  #lookAtLease(): void {
    this.#lookUpLease();
    const { lease } = this.#leadership;
    if (lease !== null && lease.releaseAtMs <= this.#machine.clock.monotonicMs()) {
      this.#releaseUnasked('the lease was not renewed in time');
    }
  }

  /**
   * Looks up the newest lease. Ignores a lease of another leadership: the agent sends the first lease of each
   * leadership as a message.
   */
  #lookUpLease(): void {
    const noted = this.#noted();
    const { id, lease, released } = this.#leadership;
    if (noted?.leadership !== id || released) return;
    const isNews = noted.releaseAtMs !== lease?.releaseAtMs || noted.endsAtMs !== lease.endsAtMs;
    if (isNews) this.#setLease(noted);
  }

  #markReleased(id: number): void {
    const leadership = this.#open(id);
    if (leadership === null) return;
    if (leadership.ending !== null && !leadership.releaseRequested && leadership.ended === null) return;
    this.#leaseAlarm.clear();
    this.#lastKill.clear();
    leadership.lease = null;
    leadership.released = true;
    this.#queue.abort((request) => request.phase === 'takeover', 'leadership was released');
    this.#groups.spare(0);
  }

  #releaseUnasked(reason: string): void {
    const leadership = this.#leadership;
    if (leadership.ending !== null || leadership.released) return;
    this.#lookUpLease();
    leadership.ending = reason;
    leadership.releaseRequested = this.#queue.has((request) => request.phase === 'release');
    const now = this.#machine.clock.monotonicMs();
    const lastKillAtMs = this.#lastKillAtMs();
    const leftMs = lastKillAtMs - now;
    if (leftMs > 0) this.#lastKill.set(lastKillAtMs, () => this.#killAll(reason));
    else this.#groups.kill((pgid) => !this.#isReleasing(pgid));
    this.#queue.abort(isNoRelease, reason, now + Math.max(0, leftMs) * takeoverAbortShare);
    if (leadership.releaseRequested) this.#hurry(now, leftMs);
    else if (leadership.begun) this.#queue.add(releaseOf(leadership, reason));
    else this.#endedUnasked(nothingRun);
  }

  /** Limits a running release to the remaining time of the lease. */
  #hurry(now: number, leftMs: number): void {
    const running = this.#queue.running;
    if (running?.request.phase !== 'release' || leftMs <= 0) return;
    running.process?.limit(now + leftMs * releaseShare, now + leftMs * releaseKillShare);
  }

  #isReleasing(pgid: number): boolean {
    const running = this.#queue.running;
    return running?.request.phase === 'release' && running.process?.pgid === pgid;
  }

  #killAll(reason: string): void {
    this.#groups.kill(() => true);
    this.#queue.abort(isNoRelease, reason);
    // A release that is still waiting runs anyway. It releases resources other than processes, and proves
    // that the remaining processes are dead.
    this.#queue.abortRunning(reason, this.#machine.clock.monotonicMs());
  }

  /**
   * Instant of the last kill, which kills everything that is left of the leadership. Infinity if the
   * leadership is not ending or has no lease.
   */
  #lastKillAtMs(): number {
    const { lease, ending } = this.#leadership;
    if (lease === null || ending === null) return never;
    return lease.endsAtMs - Math.min(maxKillMarginMs, (lease.endsAtMs - lease.releaseAtMs) / 4);
  }

  async #perform(running: Running): Promise<HookResult> {
    const { request } = running;
    if (isNoRelease(request)) await this.#hearWhatWaits();
    if (request.phase === 'takeover') {
      const cleared = await this.#endGroups(
        (leadership) => leadership !== request.leadership,
        request.graceMs,
      );
      if (!cleared) return notRun('processes of an earlier leadership are still running', 'failed');
      // The release may already be due, even if the alarm of the lease has not fired yet.
      this.#lookAtLease();
      if (running.abortedBecause === null) this.#leadership.begun = true;
    }
    const startedAtMs = this.#machine.clock.monotonicMs();
    const outcome = await this.#runHook(running);
    if (request.phase !== 'release') return outcome;
    const ended = await this.#endLeadership(request, outcome);
    return { ...ended, durationMs: Math.round(this.#machine.clock.monotonicMs() - startedAtMs) };
  }

  /** Reads waiting messages. One of them may withdraw a request that was made before a stall. */
  #hearWhatWaits(): Promise<void> {
    return new Promise((resolve) => this.#machine.clock.turn(resolve));
  }

  async #runHook(running: Running): Promise<HookResult> {
    const { request } = running;
    const { id, command, leadership, foreground } = request;
    if (running.abortedBecause !== null) return notRun(running.abortedBecause);
    if (command === null) return nothingRun;
    const hook = this.#start(request, command);
    running.process = hook;
    const { pgid } = hook;
    if (pgid === null) return await hook.outcome;
    this.#groups.add(pgid, leadership);
    this.#listener.post({ type: 'started', id, pgid });
    if (foreground) {
      this.#groups.settled(pgid, false);
      this.#workload = { leadership, outcome: hook.outcome };
      void hook.outcome.then((outcome) => this.#foregroundEnded(request, pgid, outcome));
      return { ...nothingRun, command: command.text, provenDead: false };
    }
    const outcome = await hook.outcome;
    this.#groups.settled(pgid, outcome.provenDead);
    return outcome;
  }

  #start(request: RunRequest, command: NonNullable<RunRequest['command']>): HookProcess {
    const { id, foreground } = request;
    const { timeoutMs, killAtMs } = this.#limits(request);
    const deadline = foreground ? '' : String(Math.floor(timeoutMs));
    const hook = new HookProcess(
      {
        name: request.name,
        program: command.program,
        args: command.args,
        commandText: command.text,
        env: { ...request.env, PETREL_DEADLINE_MS: deadline },
        timeoutMs: foreground ? never : timeoutMs,
        graceMs: request.graceMs,
        leavesWorkload: request.phase === 'takeover' && !foreground,
        passesOutput: foreground,
      },
      {
        line: (stream, text) => this.#listener.post({ type: 'line', id, stream, text }),
        leftOut: (lines) => this.#listener.post({ type: 'left-out', id, lines }),
      },
      this.#machine,
    );
    hook.limit(never, killAtMs);
    return hook;
  }

  #foregroundEnded({ leadership }: RunRequest, pgid: number, outcome: HookResult): void {
    this.#groups.settled(pgid, outcome.provenDead);
    const { id, released, ending } = this.#leadership;
    const isOver =
      leadership !== id || released || ending !== null || this.#queue.has((r) => r.phase === 'release');
    if (!isOver) this.#listener.post({ type: 'workload-ended', leadership, outcome });
  }

  #limits({ phase, timeoutMs }: RunRequest): { timeoutMs: number; killAtMs: number } {
    const now = this.#machine.clock.monotonicMs();
    const leftMs = this.#lastKillAtMs() - now;
    if (phase !== 'release' || leftMs <= 0) return { timeoutMs, killAtMs: never };
    return {
      timeoutMs: Math.min(timeoutMs, leftMs * releaseShare),
      killAtMs: now + leftMs * releaseKillShare,
    };
  }

  /** Ends the leadership. After a release, every process of every leadership must be dead. */
  async #endLeadership(request: RunRequest, outcome: HookResult): Promise<HookResult> {
    const ended = await this.#endGroups(() => true, request.graceMs);
    if (request.leadership === this.#leadership.id) {
      this.#leadership.released = true;
      this.#groups.spare(0);
    }
    if (ended && outcome.provenDead) return await this.#withWorkloadsEnd(request.leadership, outcome);
    const error =
      outcome.error ?? `${request.name}: processes of the leadership are still running after SIGKILL`;
    return {
      ...outcome,
      result: outcome.result === 'ok' ? 'failed' : outcome.result,
      error,
      provenDead: false,
    };
  }

  /** Adds the exit code, signal and command of a foreground workload to the outcome of the release. */
  async #withWorkloadsEnd(leadership: number, outcome: HookResult): Promise<HookResult> {
    if (this.#workload?.leadership !== leadership) return outcome;
    const { exitCode, signal, command } = await this.#workload.outcome;
    return { ...outcome, exitCode, signal, command };
  }

  #endGroups(which: (leadership: number) => boolean, graceMs: number): Promise<boolean> {
    const graceEndMs = this.#machine.clock.monotonicMs() + graceMs;
    return this.#groups.end(which, () => Math.min(graceEndMs, this.#lastKillAtMs()));
  }

  #settled(request: RunRequest, outcome: HookResult): void {
    const { id, ending, releaseRequested, ended } = this.#leadership;
    if (request.id === unasked) this.#endedUnasked(outcome);
    else if (request.leadership === id && ending !== null && !releaseRequested && ended === null) {
      this.#heldBack.push({ id: request.id, outcome });
    } else this.#post(request.id, outcome);
  }

  #endedUnasked(outcome: HookResult): void {
    this.#leadership.ended = outcome;
    this.#leaseAlarm.clear();
    this.#lastKill.clear();
    this.#groups.spare(0);
    const { id: leadership, lease } = this.#leadership;
    const leaseLeftMs =
      lease === null ? null : Math.round(lease.endsAtMs - this.#machine.clock.monotonicMs());
    this.#listener.post({ type: 'lease-ended', leadership, outcome, leaseLeftMs });
    for (const held of this.#heldBack.splice(0)) this.#post(held.id, held.outcome);
    for (const id of this.#attached.splice(0)) this.#post(id, outcome);
  }

  #post(id: number, outcome: HookResult): void {
    this.#listener.post({ type: 'outcome', id, outcome });
  }

  #whenIdle(): void {
    if (this.#queue.idle && this.#groups.size === 0) this.#listener.idle();
  }
}

function isNoRelease({ phase }: RunRequest): boolean {
  return phase !== 'release';
}
