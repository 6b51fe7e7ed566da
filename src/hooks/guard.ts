/**
 * Runs hooks one after the other, and guards the tenure: when the lease passes unrenewed or the agent dies, it
 * aborts what runs, runs the release hook itself, and kills what is left of the tenure before the lease ends.
 *
 * A machine that stood still as a whole past the lease's end wakes too late for that: everything is then killed at
 * once, and the release hook still runs, so that what is not a process (an address, a mount) is given up too.
 * One that was suspended wakes with a clock that stood still as well: its lease seems good until its agent hears,
 * at its first exchange, that the session is over.
 */
import type { NamedSlot } from '../model/named-slot.js';
import type { DutyLease, DutyOutcome } from '../ports/duty.js';
import type { Machine } from '../ports/processes.js';
import { Alarm } from './alarm.js';
import { GroupRegister } from './group-register.js';
import { type GuardedTenure, newTenure, releaseOf } from './guarded-tenure.js';
import { HookProcess } from './hook-process.js';
import { Lane, type Running } from './lane.js';
import { type FromKeeper, type RunRequest, type TenureLease, type ToKeeper, unasked } from './messages.js';
import { nothingRun, notRun } from './outcomes.js';

/** Shares of the time until the lease's end. */
const takeoverAbortShare = 1 / 3;
const releaseShare = 0.6;
const releaseKillShare = 0.8;
/** Left, after the last kill, for the processes to be gone. */
const maxKillMarginMs = 50;
const never = Number.POSITIVE_INFINITY;

export interface GuardListener {
  post(message: FromKeeper): void;
  /** Nothing runs, nothing waits, nothing lives. */
  idle(): void;
}

export class Guard {
  readonly #listener: GuardListener;
  readonly #machine: Machine;
  readonly #noted: () => TenureLease | null;
  readonly #groups: GroupRegister;
  readonly #lane: Lane;
  readonly #leaseAlarm: Alarm;
  readonly #lastKill: Alarm;
  #tenure = newTenure(0);
  /** Outcomes that wait until the end of the tenure has been reported. */
  readonly #heldBack: { id: number; outcome: DutyOutcome }[] = [];
  /** Releases asked for while one that nobody asked for runs: they get its outcome. */
  readonly #attached: number[] = [];
  /** The newest workload in the foreground, and how it ends. */
  #workload: { readonly tenure: number; readonly outcome: Promise<DutyOutcome> } | null = null;

  /** `noted` looks up the agent's newest lease where that is not told of every one. */
  constructor(listener: GuardListener, machine: Machine, noted: () => TenureLease | null = () => null) {
    this.#listener = listener;
    this.#machine = machine;
    this.#noted = noted;
    this.#leaseAlarm = new Alarm(machine.clock);
    this.#lastKill = new Alarm(machine.clock);
    this.#groups = new GroupRegister(machine, (pgid) => {
      listener.post({ type: 'gone', pgid });
      this.#whenIdle();
    });
    this.#lane = new Lane({
      perform: (running) => this.#perform(running),
      settled: (request, outcome) => this.#settled(request, outcome),
      idle: () => this.#whenIdle(),
    });
  }

  handle(message: ToKeeper): void {
    if (message.type === 'run') this.#submit(message.request);
    else if (message.type === 'abort') {
      this.#lane.abort(({ id }) => id === message.id, message.reason, message.killAtMs ?? never);
    } else if (message.type === 'guard') {
      const tenure = this.#open(message.release.tenure);
      if (tenure !== null) {
        tenure.release = message.release;
        tenure.begun ||= message.begun;
      }
    } else if (message.type === 'lease') this.#setLease(message);
    else if (message.type === 'let-go') this.#letGo(message.tenure);
    else this.#groups.adopt(message.pgid);
  }

  /** A workload in the foreground was started, in this tenure or an earlier one. */
  get hasRunWorkload(): boolean {
    return this.#workload !== null;
  }

  /** The leadership that is guarded, and why it ends if it does; null where there is none. */
  get story(): (NamedSlot & { readonly term: number; readonly ending: string | null }) | null {
    const { lease, release, ending } = this.#tenure;
    if (lease === null || release === null) return null;
    const { slot, term } = release;
    return { ...(slot === null ? {} : { slot }), term, ending };
  }

  /** Nobody will ask for anything any more. */
  agentGone(reason: string): void {
    const { begun, released, ending } = this.#tenure;
    if (begun && !released && ending === null) this.#releaseUnasked(reason);
    else this.#lane.abort(isNoRelease, reason);
    this.#whenIdle();
  }

  #submit(request: RunRequest): void {
    const tenure = request.tenure === 0 ? null : this.#open(request.tenure);
    // Of a tenure that ended before its takeover began nothing is released: by now another may lead.
    if (request.phase === 'release' && this.#waitsToBegin(tenure)) this.#lookAtLease();
    if (request.tenure !== 0 && tenure === null) {
      this.#post(request.id, notRun('the tenure is over'));
    } else if (tenure !== null && tenure.ending !== null && !tenure.asked) {
      this.#submitLate(request, tenure, tenure.ending);
    } else {
      if (request.phase === 'release') {
        this.#tenure.begun = true;
        this.#lane.abort(isNoRelease, 'a release came first');
      }
      this.#lane.add(request);
    }
  }

  #waitsToBegin(tenure: GuardedTenure | null): boolean {
    if (tenure === null || tenure.begun) return false;
    return this.#lane.has((request) => request.phase === 'takeover' && request.tenure === tenure.id);
  }

  /** The tenure ends by itself, or has. */
  #submitLate(request: RunRequest, tenure: GuardedTenure, ending: string): void {
    const outcome = request.phase === 'release' ? tenure.ended : notRun(ending);
    if (outcome === null) this.#attached.push(request.id);
    else if (tenure.ended === null) this.#heldBack.push({ id: request.id, outcome });
    else this.#post(request.id, outcome);
  }

  /** Null when the tenure is an earlier one. A later one ends what it finds. */
  #open(id: number): GuardedTenure | null {
    if (id < this.#tenure.id) return null;
    if (id > this.#tenure.id) {
      this.#leaseAlarm.clear();
      this.#lastKill.clear();
      this.#tenure = newTenure(id);
      this.#lane.abort(({ phase, tenure }) => phase === 'takeover' && tenure < id, 'its tenure is over');
      this.#groups.spare(id);
    }
    return this.#tenure;
  }

  #setLease({ tenure: id, releaseAtMs, endsAtMs }: TenureLease): void {
    const tenure = this.#open(id);
    if (tenure === null) return;
    const lease = { releaseAtMs, endsAtMs };
    if (tenure.ending !== null) {
      this.#shorten(tenure, tenure.ending, lease);
      return;
    }
    tenure.lease = lease;
    this.#leaseAlarm.set(releaseAtMs, () => this.#leaseIsDue());
  }

  /** A tenure that is ending never gets more time. It gets less if its session turns out to end sooner. */
  #shorten(tenure: GuardedTenure, reason: string, lease: DutyLease): void {
    if (tenure.lease === null || lease.endsAtMs >= tenure.lease.endsAtMs || tenure.released) return;
    tenure.lease = lease;
    const lastKillAtMs = this.#lastKillAtMs();
    const now = this.#machine.clock.monotonicMs();
    this.#lastKill.set(Math.max(now, lastKillAtMs), () => this.#killAll(reason));
    this.#hurry(now, lastKillAtMs - now);
  }

  #leaseIsDue(): void {
    this.#lookUpLease();
    // An alarm that rings late (this process stood still too) may find a renewal waiting: read that first.
    if (this.#leaseAlarm.atMs === never) this.#machine.clock.turn(() => this.#lookAtLease());
  }

  #lookAtLease(): void {
    this.#lookUpLease();
    const { lease } = this.#tenure;
    if (lease !== null && lease.releaseAtMs <= this.#machine.clock.monotonicMs()) {
      this.#releaseUnasked('the lease was not renewed in time');
    }
  }

  /** One of another tenure is not this one's: the first of each is told. */
  #lookUpLease(): void {
    const noted = this.#noted();
    const { id, lease, released } = this.#tenure;
    if (noted?.tenure !== id || released) return;
    const isNews = noted.releaseAtMs !== lease?.releaseAtMs || noted.endsAtMs !== lease.endsAtMs;
    if (isNews) this.#setLease(noted);
  }

  #letGo(id: number): void {
    const tenure = this.#open(id);
    if (tenure === null || (tenure.ending !== null && !tenure.asked && tenure.ended === null)) return;
    this.#leaseAlarm.clear();
    this.#lastKill.clear();
    tenure.lease = null;
    tenure.released = true;
    this.#lane.abort((request) => request.phase === 'takeover', 'the tenure was let go');
    this.#groups.spare(0);
  }

  #releaseUnasked(reason: string): void {
    const tenure = this.#tenure;
    if (tenure.ending !== null || tenure.released) return;
    this.#lookUpLease();
    tenure.ending = reason;
    tenure.asked = this.#lane.has((request) => request.phase === 'release');
    const now = this.#machine.clock.monotonicMs();
    const lastKillAtMs = this.#lastKillAtMs();
    const leftMs = lastKillAtMs - now;
    if (leftMs > 0) this.#lastKill.set(lastKillAtMs, () => this.#killAll(reason));
    else this.#groups.kill((pgid) => !this.#isReleasing(pgid));
    this.#lane.abort(isNoRelease, reason, now + Math.max(0, leftMs) * takeoverAbortShare);
    if (tenure.asked) this.#hurry(now, leftMs);
    else if (tenure.begun) this.#lane.add(releaseOf(tenure, reason), 'first');
    else this.#endedUnasked(nothingRun);
  }

  /** The release that runs has no more time than the lease. */
  #hurry(now: number, leftMs: number): void {
    const running = this.#lane.running;
    if (running?.request.phase !== 'release' || leftMs <= 0) return;
    running.process?.limit(now + leftMs * releaseShare, now + leftMs * releaseKillShare);
  }

  #isReleasing(pgid: number): boolean {
    const running = this.#lane.running;
    return running?.request.phase === 'release' && running.process?.pgid === pgid;
  }

  #killAll(reason: string): void {
    this.#groups.kill(() => true);
    this.#lane.abort(isNoRelease, reason);
    // A release that still waits is run all the same: it gives up what is not a process, and proves the rest dead.
    this.#lane.abortRunning(reason, this.#machine.clock.monotonicMs());
  }

  /** When the tenure's last process must be killed; Infinity while nothing presses. */
  #lastKillAtMs(): number {
    const { lease, ending } = this.#tenure;
    if (lease === null || ending === null) return never;
    return lease.endsAtMs - Math.min(maxKillMarginMs, (lease.endsAtMs - lease.releaseAtMs) / 4);
  }

  async #perform(running: Running): Promise<DutyOutcome> {
    const { request } = running;
    if (isNoRelease(request)) await this.#hearWhatWaits();
    if (request.phase === 'takeover') {
      const cleared = await this.#endGroups((tenure) => tenure !== request.tenure, request.graceMs);
      if (!cleared) return notRun('processes of an earlier tenure are still there', 'failed');
      // The alarm may not have rung yet.
      this.#lookAtLease();
      if (running.abortedBecause === null) this.#tenure.begun = true;
    }
    const startedAtMs = this.#machine.clock.monotonicMs();
    const outcome = await this.#runHook(running);
    if (request.phase !== 'release') return outcome;
    const ended = await this.#endTenure(request, outcome);
    return { ...ended, durationMs: Math.round(this.#machine.clock.monotonicMs() - startedAtMs) };
  }

  /** What was asked for before this process stood still may have been taken back since: that waits in the channel. */
  #hearWhatWaits(): Promise<void> {
    return new Promise((resolve) => this.#machine.clock.turn(resolve));
  }

  async #runHook(running: Running): Promise<DutyOutcome> {
    const { request } = running;
    const { id, command, tenure, foreground } = request;
    if (running.abortedBecause !== null) return notRun(running.abortedBecause);
    if (command === null) return nothingRun;
    const hook = this.#start(request, command);
    running.process = hook;
    const { pgid } = hook;
    if (pgid === null) return await hook.outcome;
    this.#groups.add(pgid, tenure);
    this.#listener.post({ type: 'started', id, pgid });
    if (foreground) {
      this.#groups.settled(pgid, false);
      this.#workload = { tenure, outcome: hook.outcome };
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

  #foregroundEnded({ tenure }: RunRequest, pgid: number, outcome: DutyOutcome): void {
    this.#groups.settled(pgid, outcome.provenDead);
    const { id, released, ending } = this.#tenure;
    const isOver =
      tenure !== id || released || ending !== null || this.#lane.has((r) => r.phase === 'release');
    if (!isOver) this.#listener.post({ type: 'workload-ended', tenure, outcome });
  }

  #limits({ phase, timeoutMs }: RunRequest): { timeoutMs: number; killAtMs: number } {
    const now = this.#machine.clock.monotonicMs();
    const leftMs = this.#lastKillAtMs() - now;
    if (phase !== 'release' || leftMs <= 0 || leftMs === never) return { timeoutMs, killAtMs: never };
    return {
      timeoutMs: Math.min(timeoutMs, leftMs * releaseShare),
      killAtMs: now + leftMs * releaseKillShare,
    };
  }

  /** After a release nothing may live, of whatever tenure. */
  async #endTenure(request: RunRequest, outcome: DutyOutcome): Promise<DutyOutcome> {
    const ended = await this.#endGroups(() => true, request.graceMs);
    if (request.tenure === this.#tenure.id) {
      this.#tenure.released = true;
      this.#groups.spare(0);
    }
    if (ended && outcome.provenDead) return await this.#withWorkloadsEnd(request.tenure, outcome);
    const error = outcome.error ?? `${request.name}: processes of the tenure were killed but are still there`;
    return {
      ...outcome,
      result: outcome.result === 'ok' ? 'failed' : outcome.result,
      error,
      provenDead: false,
    };
  }

  /** What a tenure in the foreground released is its workload: how that ended is how the release did. */
  async #withWorkloadsEnd(tenure: number, outcome: DutyOutcome): Promise<DutyOutcome> {
    if (this.#workload?.tenure !== tenure) return outcome;
    const { exitCode, signal, command } = await this.#workload.outcome;
    return { ...outcome, exitCode, signal, command };
  }

  #endGroups(which: (tenure: number) => boolean, graceMs: number): Promise<boolean> {
    const graceEndMs = this.#machine.clock.monotonicMs() + graceMs;
    return this.#groups.end(which, () => Math.min(graceEndMs, this.#lastKillAtMs()));
  }

  #settled(request: RunRequest, outcome: DutyOutcome): void {
    const { id, ending, asked, ended } = this.#tenure;
    if (request.id === unasked) this.#endedUnasked(outcome);
    else if (request.tenure === id && ending !== null && !asked && ended === null) {
      this.#heldBack.push({ id: request.id, outcome });
    } else this.#post(request.id, outcome);
  }

  #endedUnasked(outcome: DutyOutcome): void {
    this.#tenure.ended = outcome;
    this.#leaseAlarm.clear();
    this.#lastKill.clear();
    this.#groups.spare(0);
    const { id: tenure, lease } = this.#tenure;
    const leaseLeftMs =
      lease === null ? null : Math.round(lease.endsAtMs - this.#machine.clock.monotonicMs());
    this.#listener.post({ type: 'lease-ended', tenure, outcome, leaseLeftMs });
    for (const held of this.#heldBack.splice(0)) this.#post(held.id, held.outcome);
    for (const id of this.#attached.splice(0)) this.#post(id, outcome);
  }

  #post(id: number, outcome: DutyOutcome): void {
    this.#listener.post({ type: 'outcome', id, outcome });
  }

  #whenIdle(): void {
    if (this.#lane.idle && this.#groups.size === 0) this.#listener.idle();
  }
}

function isNoRelease({ phase }: RunRequest): boolean {
  return phase !== 'release';
}
