/**
 * The workload of a service that uses Petrel as a library. The workload is a function that runs while this
 * process leads. The function's signal fires when leadership must end.
 *
 * Not promised: that the function stops. A function cannot be killed. The claim is kept until the function
 * settles or the session ends. After the session has ended, only the fencing token protects the stores to
 * which the function writes.
 */

import { errorMessage, PetrelError, present } from '../errors.js';
import { Listeners } from '../listeners.js';
import type { Logger } from '../log.js';
import type { Clock } from '../ports/clock.js';
import type {
  HookContext,
  HookResult,
  HookRun,
  Phase,
  Workload,
  WorkloadEnd,
  WorkloadLease,
} from '../ports/workload.js';

export interface Leadership {
  /** Term of the leadership: the number of the decision. For display only. */
  readonly term: number;
  /** Slot that this node leads. It is 1 if the group has only one leader. */
  readonly slot: number;
  /**
   * Number that increases with every leadership in the group. A store that remembers the highest token it has
   * seen can reject requests with older tokens.
   */
  readonly fencingToken: bigint;
  /** Reason why this node was elected. */
  readonly reason: string;
  /** Id of the previous leader. Null if there was none. */
  readonly previousLeader: string | null;
  /**
   * Whether leadership is still valid. Every access checks the clock, so the answer is correct even just
   * after this process was frozen.
   */
  readonly held: boolean;
}

/**
 * Called when this node takes over. The function must settle soon after the signal fires. The signal's reason
 * is a PetrelError LEADERSHIP_LOST. Its message explains why leadership was lost.
 */
export type LeaderFunction = (leadership: Leadership, signal: AbortSignal) => Promise<void> | void;

export interface LeaderFunctions {
  /** Runs while this node leads. If the function settles before the signal fires, leadership is released. */
  readonly work: LeaderFunction;
  /**
   * Runs before the node is READY, for recovery or warm-up. If the function throws or rejects, the takeover
   * fails.
   */
  readonly takeover?: LeaderFunction;
}

/** The running functions of one leadership. */
interface Service {
  /** The leadership. Null until the takeover begins. */
  leadership: Leadership | null;
  readonly controller: AbortController;
  running: Promise<HookResult> | null;
  isAtWork: boolean;
}

export class FunctionWorkload implements Workload {
  readonly #clock: Clock;
  readonly #isHeld: () => boolean;
  readonly #listeners: Listeners<WorkloadEnd>;
  #functions: LeaderFunctions | null = null;
  #service: Service | null = null;
  #lease: WorkloadLease | null = null;
  #cancelLease: () => void = () => {};
  /** Hook runs that are waiting for a call to `use`. Calling an entry ends that run. */
  readonly #awaiting = new Set<(end: Partial<HookResult>) => void>();
  /** Time within which a function must settle after its signal has fired, as configured for the group. */
  #settleWithinMs = 0;

  /** `isHeld` returns whether this node leads at the time of the call. */
  constructor(clock: Clock, isHeld: () => boolean, log: Logger) {
    this.#listeners = new Listeners(log, 'the workload');
    this.#clock = clock;
    this.#isHeld = isHeld;
  }

  use(functions: LeaderFunctions): void {
    this.#functions = functions;
    this.#endAwaiting({});
  }

  /**
   * Whether this phase must run. A process may be elected before it has a work function, for example because
   * its previous incarnation led. The prepare phase runs only in that case, and waits for a work function.
   */
  has(phase: Phase): boolean {
    if (phase === 'prepare') return this.#functions === null;
    return phase === 'takeover' || phase === 'release';
  }

  run(context: HookContext): HookRun {
    if (context.phase === 'prepare') return this.#awaitWork(context);
    const { controller } = this.#serve();
    if (context.phase === 'release') this.#settleWithinMs = context.timeoutMs;
    const outcome = context.phase === 'takeover' ? this.#takeOver(context) : this.#release(context);
    return { outcome, abort: (reason) => controller.abort(lost(reason)) };
  }

  /**
   * Starts the work function after READY has been written. Returns the leadership for which the function was
   * started, or null if it was not started.
   */
  startWork(): Leadership | null {
    const service = this.#service;
    const work = this.#functions?.work;
    const leadership = service?.leadership ?? null;
    if (service === null || leadership === null || work === undefined) return null;
    const { signal } = service.controller;
    if (signal.aborted) return null;
    service.isAtWork = true;
    service.running = this.#call(work, leadership, signal).then((outcome) => {
      if (signal.aborted) return outcome;
      service.controller.abort(lost(outcome.error ?? 'the work function returned on its own'));
      this.#listeners.notify({ cause: 'workload-ended', workload: outcome });
      return outcome;
    });
    return leadership;
  }

  /** Whether the work function has been started and its signal has not fired. */
  get isAtWork(): boolean {
    return this.#service?.isAtWork === true && !this.#service.controller.signal.aborted;
  }

  /** Fires the signal, because leadership is over. Cleanup may still be in progress. */
  revoke(reason: string): void {
    this.#service?.controller.abort(lost(reason));
  }

  holdLease(lease: WorkloadLease, release: HookContext): void {
    this.#cancelLease();
    this.#lease = lease;
    this.#settleWithinMs = release.timeoutMs;
    const service = this.#serve();
    this.#cancelLease = this.#clock.timer(lease.releaseAtMs - this.#clock.monotonicMs(), () => {
      if (this.#service !== service || this.#lease !== lease) return;
      service.controller.abort(lost(release.reason));
      const timeoutMs = Math.max(0, lease.endsAtMs - this.#clock.monotonicMs());
      void this.#settled(service, timeoutMs).then((outcome) => {
        const leaseLeftMs = lease.endsAtMs - this.#clock.monotonicMs();
        if (this.#service === service)
          this.#listeners.notify({ cause: 'lease-ended', release: outcome, leaseLeftMs });
      });
    });
  }

  endLeadership(): void {
    this.#cancelLease();
    this.#lease = null;
    this.#service = null;
  }

  onEnd(listener: (end: WorkloadEnd) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Revokes leadership and waits for the running function. Waits at most as long as a release may take. */
  async close(): Promise<boolean> {
    this.revoke('the node is leaving');
    this.#endAwaiting({ result: 'aborted', error: 'the node is leaving' });
    const service = this.#service;
    const settled = service === null || (await this.#settled(service, this.#settleWithinMs)).provenDead;
    this.endLeadership();
    return settled;
  }

  #serve(): Service {
    this.#service ??= {
      leadership: null,
      controller: new AbortController(),
      running: null,
      isAtWork: false,
    };
    return this.#service;
  }

  #grant({ term, slot, fencingToken, reason, previousLeader }: HookContext, signal: AbortSignal): Leadership {
    const isHeld = this.#isHeld;
    return {
      term,
      slot,
      fencingToken: present(fencingToken, 'the token of a leadership'),
      reason,
      previousLeader,
      get held() {
        return !signal.aborted && isHeld();
      },
    };
  }

  #awaitWork({ timeoutMs }: HookContext): HookRun {
    let end = (_: Partial<HookResult>) => {};
    const outcome = new Promise<HookResult>((resolve) => {
      const error = 'this process has no work: lead() was not called';
      const cancel = this.#clock.timer(timeoutMs, () => end({ result: 'timed-out', error }));
      end = (how) => {
        cancel();
        this.#awaiting.delete(end);
        resolve({ ...outcomeOf(0), ...how });
      };
    });
    this.#awaiting.add(end);
    return { outcome, abort: (error) => end({ result: 'aborted', error }) };
  }

  #endAwaiting(how: Partial<HookResult>): void {
    for (const end of [...this.#awaiting]) end(how);
  }

  #takeOver(context: HookContext): Promise<HookResult> {
    const service = this.#serve();
    const takeover = this.#functions?.takeover ?? (() => {});
    const { signal } = service.controller;
    service.leadership = this.#grant(context, signal);
    service.running = this.#call(takeover, service.leadership, signal);
    return this.#within(service.running, context.timeoutMs, () => {
      service.controller.abort(lost(`takeover timed out after ${context.timeoutMs} ms`));
    });
  }

  async #release(context: HookContext): Promise<HookResult> {
    const service = this.#serve();
    service.controller.abort(lost(context.reason));
    return await this.#settled(service, context.timeoutMs);
  }

  /**
   * Waits for the function to settle. Returns the result of the release, which depends on whether the
   * function settled in time.
   */
  async #settled(service: Service, timeoutMs: number): Promise<HookResult> {
    const startedAtMs = this.#clock.monotonicMs();
    const ended = await this.#within(service.running ?? Promise.resolve(outcomeOf(0)), timeoutMs, () => {});
    const durationMs = this.#clock.monotonicMs() - startedAtMs;
    if (ended.result !== 'timed-out') return outcomeOf(durationMs);
    const error = `the function did not settle within ${Math.round(timeoutMs)} ms after its signal was aborted`;
    return { ...outcomeOf(durationMs), result: 'timed-out', error, provenDead: false };
  }

  async #call(call: LeaderFunction, leadership: Leadership, signal: AbortSignal): Promise<HookResult> {
    const startedAtMs = this.#clock.monotonicMs();
    try {
      await call(leadership, signal);
      return outcomeOf(this.#clock.monotonicMs() - startedAtMs);
    } catch (cause) {
      const durationMs = this.#clock.monotonicMs() - startedAtMs;
      return { ...outcomeOf(durationMs), result: 'failed', error: errorMessage(cause) };
    }
  }

  #within(running: Promise<HookResult>, timeoutMs: number, onLate: () => void): Promise<HookResult> {
    return new Promise((resolve) => {
      const cancel = this.#clock.timer(timeoutMs, () => {
        onLate();
        const error = `timed out after ${Math.round(timeoutMs)} ms`;
        resolve({ ...outcomeOf(timeoutMs), result: 'timed-out', error, provenDead: false });
      });
      void running.then((outcome) => {
        cancel();
        resolve(outcome);
      });
    });
  }
}

/** Returns the error that becomes the signal's reason. */
function lost(why: string): PetrelError {
  return new PetrelError('LEADERSHIP_LOST', `leadership must end: ${why}`);
}

function outcomeOf(durationMs: number): HookResult {
  return {
    result: 'ok',
    exitCode: null,
    signal: null,
    durationMs,
    command: null,
    error: null,
    outputTail: [],
    provenDead: true,
  };
}
