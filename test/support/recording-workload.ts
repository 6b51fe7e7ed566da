/**
 * A workload whose runs are functions supplied by the test. It records when each run began and ended, and
 * honours the contract of the `Workload` port. Runs never overlap, and they start in order. A release aborts
 * all earlier runs, whether active or waiting. When a lease ends without renewal, the workload is released
 * automatically.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../src/errors.js';
import { systemClock } from '../../src/ports/clock.js';
import type {
  HookContext,
  HookResult,
  HookRun,
  Phase,
  Workload,
  WorkloadEnd,
  WorkloadLease,
} from '../../src/ports/workload.js';

/** The run succeeds if the task resolves, and fails if the task rejects. */
export type Task = (context: HookContext, signal: AbortSignal) => Promise<void> | void;

export interface Recorded {
  readonly context: HookContext;
  readonly startedAtMs: number;
  /** Undefined while the run is active. */
  endedAtMs?: number;
  result?: HookResult['result'];
}

export class RecordingWorkload implements Workload {
  /** Every run, in the order in which they started. */
  readonly runs: Recorded[] = [];
  /** Every lease that the workload received, including repeated ones. */
  readonly leases: WorkloadLease[] = [];
  readonly #tasks: Partial<Record<Phase, Task>>;
  readonly #listeners = new Set<(end: WorkloadEnd) => void>();
  #last: Promise<unknown> = Promise.resolve();
  #aborts = new Set<AbortController>();
  #lease: WorkloadLease | null = null;
  #cancelLease: () => void = () => {};

  constructor(tasks: Partial<Record<Phase, Task>> = {}) {
    this.#tasks = { takeover: () => {}, release: () => {}, ...tasks };
  }

  /** Sets the task of a phase, from the next run on. */
  does(phase: Phase, task: Task): void {
    this.#tasks[phase] = task;
  }

  has(phase: Phase): boolean {
    return this.#tasks[phase] !== undefined;
  }

  run(context: HookContext): HookRun {
    const controller = new AbortController();
    if (context.phase === 'release') this.#abortAll(context.reason);
    this.#aborts.add(controller);
    const outcome = this.#last.then(() => this.#perform(context, controller));
    this.#last = outcome;
    return { outcome, abort: (reason) => controller.abort(new Error(reason)) };
  }

  holdLease(lease: WorkloadLease, release: HookContext): void {
    this.#cancelLease();
    this.#lease = lease;
    this.leases.push(lease);
    const leftMs = lease.releaseAtMs - systemClock.monotonicMs();
    this.#cancelLease = systemClock.timer(leftMs, () => void this.#leaseEnded(lease, release));
  }

  endLeadership(): void {
    this.#cancelLease();
    this.#lease = null;
  }

  onEnd(listener: (end: WorkloadEnd) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<boolean> {
    this.endLeadership();
    this.#abortAll('the node is leaving');
    await this.#last;
    return true;
  }

  /** Reports that the workload has ended, although no release was requested. */
  endWorkload(error: string): void {
    this.#emit({ cause: 'workload-ended', workload: { ...outcomeOf('failed', 0), error } });
  }

  of(phase: Phase): Recorded[] {
    return this.runs.filter(({ context }) => context.phase === phase);
  }

  async #leaseEnded(lease: WorkloadLease, release: HookContext): Promise<void> {
    const { outcome } = this.run(release);
    const ended = await outcome;
    const leaseLeftMs = lease.endsAtMs - systemClock.monotonicMs();
    if (this.#lease === lease) this.#emit({ cause: 'lease-ended', release: ended, leaseLeftMs });
  }

  #emit(end: WorkloadEnd): void {
    for (const listener of this.#listeners) listener(end);
  }

  #abortAll(reason: string): void {
    for (const controller of this.#aborts) controller.abort(new Error(reason));
  }

  async #perform(context: HookContext, controller: AbortController): Promise<HookResult> {
    const { signal } = controller;
    const recorded: Recorded = { context, startedAtMs: systemClock.monotonicMs() };
    this.runs.push(recorded);
    const outcome = await this.#outcome(context, signal);
    recorded.endedAtMs = systemClock.monotonicMs();
    recorded.result = outcome.result;
    this.#aborts.delete(controller);
    return outcome;
  }

  async #outcome(context: HookContext, signal: AbortSignal): Promise<HookResult> {
    const startedAtMs = systemClock.monotonicMs();
    const done = () => systemClock.monotonicMs() - startedAtMs;
    if (signal.aborted) return { ...outcomeOf('aborted', 0), error: 'it was aborted' };
    const late = new AbortController();
    try {
      const task = async () => await this.#tasks[context.phase]?.(context, signal);
      const limit = sleep(context.timeoutMs, 'late' as const, { signal: late.signal }).catch(() => {});
      const first = await Promise.race([task(), limit, aborted(signal)]);
      if (first === 'late') return { ...outcomeOf('timed-out', done()), error: 'it took too long' };
      if (first === 'aborted') return { ...outcomeOf('aborted', done()), error: 'it was aborted' };
      return outcomeOf('ok', done());
    } catch (error) {
      return { ...outcomeOf('failed', done()), error: errorMessage(error) };
    } finally {
      late.abort();
    }
  }
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
}

function outcomeOf(result: HookResult['result'], durationMs: number): HookResult {
  return {
    result,
    exitCode: null,
    signal: null,
    durationMs,
    command: null,
    error: null,
    outputTail: [],
    provenDead: true,
  };
}

/**
 * Returns the leaderships of different nodes that overlapped. A leadership lasts from the start of its
 * takeover to the end of its release.
 */
export function overlaps(workloads: Readonly<Record<string, RecordingWorkload>>): string[] {
  const leaderships = Object.entries(workloads).flatMap(([node, workload]) =>
    leadershipSpansOf(workload).map((t) => ({ node, ...t })),
  );
  return leaderships.flatMap((one, index) =>
    leaderships
      .slice(index + 1)
      .filter((other) => other.node !== one.node && one.fromMs < other.toMs && other.fromMs < one.toMs)
      .map((other) => `${one.node} (token ${one.token}) and ${other.node} (token ${other.token})`),
  );
}

interface RecordedLeadership {
  readonly token: bigint | null;
  readonly fromMs: number;
  readonly toMs: number;
}

function leadershipSpansOf(workload: RecordingWorkload): RecordedLeadership[] {
  return workload.of('takeover').map((takeover) => {
    const token = takeover.context.fencingToken;
    const release = workload.of('release').find(({ context }) => context.fencingToken === token);
    const toMs = release?.endedAtMs ?? Number.POSITIVE_INFINITY;
    return { token, fromMs: takeover.startedAtMs, toMs };
  });
}
