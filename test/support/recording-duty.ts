/**
 * A duty whose runs are functions of the test's own, and which writes down when each began and ended. It keeps
 * the port's promises: runs never overlap and start in order, a release aborts what runs or waits before it, a
 * lease that passes unrenewed is released by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../src/errors.js';
import { systemClock } from '../../src/ports/clock.js';
import type {
  Duty,
  DutyContext,
  DutyEnd,
  DutyLease,
  DutyOutcome,
  DutyRun,
  Phase,
} from '../../src/ports/duty.js';

/** Ends well when it resolves, fails when it rejects. */
export type Task = (context: DutyContext, signal: AbortSignal) => Promise<void> | void;

export interface Recorded {
  readonly context: DutyContext;
  readonly startedAtMs: number;
  /** Undefined while it runs. */
  endedAtMs?: number;
  result?: DutyOutcome['result'];
}

export class RecordingDuty implements Duty {
  /** Every run, in the order in which they started. */
  readonly runs: Recorded[] = [];
  /** Every lease that it was handed, as often as it was. */
  readonly leases: DutyLease[] = [];
  readonly #tasks: Partial<Record<Phase, Task>>;
  readonly #listeners = new Set<(end: DutyEnd) => void>();
  #last: Promise<unknown> = Promise.resolve();
  #aborts = new Set<AbortController>();
  #lease: DutyLease | null = null;
  #cancelLease: () => void = () => {};

  constructor(tasks: Partial<Record<Phase, Task>> = {}) {
    this.#tasks = { takeover: () => {}, release: () => {}, ...tasks };
  }

  /** From the next run on. */
  does(phase: Phase, task: Task): void {
    this.#tasks[phase] = task;
  }

  has(phase: Phase): boolean {
    return this.#tasks[phase] !== undefined;
  }

  run(context: DutyContext): DutyRun {
    const controller = new AbortController();
    if (context.phase === 'release') this.#abortAll(context.reason);
    this.#aborts.add(controller);
    const outcome = this.#last.then(() => this.#perform(context, controller));
    this.#last = outcome;
    return { outcome, abort: (reason) => controller.abort(new Error(reason)) };
  }

  holdLease(lease: DutyLease, release: DutyContext): void {
    this.#cancelLease();
    this.#lease = lease;
    this.leases.push(lease);
    const leftMs = lease.releaseAtMs - systemClock.monotonicMs();
    this.#cancelLease = systemClock.timer(leftMs, () => void this.#leaseEnded(lease, release));
  }

  letGo(): void {
    this.#cancelLease();
    this.#lease = null;
  }

  onEnd(listener: (end: DutyEnd) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<boolean> {
    this.letGo();
    this.#abortAll('the node is leaving');
    await this.#last;
    return true;
  }

  /** The workload ends though nobody asked it to. */
  endWorkload(error: string): void {
    this.#emit({ cause: 'workload-ended', workload: { ...outcomeOf('failed', 0), error } });
  }

  of(phase: Phase): Recorded[] {
    return this.runs.filter(({ context }) => context.phase === phase);
  }

  async #leaseEnded(lease: DutyLease, release: DutyContext): Promise<void> {
    const { outcome } = this.run(release);
    const ended = await outcome;
    const leaseLeftMs = lease.endsAtMs - systemClock.monotonicMs();
    if (this.#lease === lease) this.#emit({ cause: 'lease-ended', release: ended, leaseLeftMs });
  }

  #emit(end: DutyEnd): void {
    for (const listener of this.#listeners) listener(end);
  }

  #abortAll(reason: string): void {
    for (const controller of this.#aborts) controller.abort(new Error(reason));
  }

  async #perform(context: DutyContext, controller: AbortController): Promise<DutyOutcome> {
    const { signal } = controller;
    const recorded: Recorded = { context, startedAtMs: systemClock.monotonicMs() };
    this.runs.push(recorded);
    const outcome = await this.#outcome(context, signal);
    recorded.endedAtMs = systemClock.monotonicMs();
    recorded.result = outcome.result;
    this.#aborts.delete(controller);
    return outcome;
  }

  async #outcome(context: DutyContext, signal: AbortSignal): Promise<DutyOutcome> {
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

function outcomeOf(result: DutyOutcome['result'], durationMs: number): DutyOutcome {
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

/** Runs of several nodes that were under way at one instant: from a takeover's start to its release's end. */
export function overlaps(duties: Readonly<Record<string, RecordingDuty>>): string[] {
  const tenures = Object.entries(duties).flatMap(([node, duty]) =>
    tenuresOf(duty).map((t) => ({ node, ...t })),
  );
  return tenures.flatMap((one, index) =>
    tenures
      .slice(index + 1)
      .filter((other) => other.node !== one.node && one.fromMs < other.toMs && other.fromMs < one.toMs)
      .map((other) => `${one.node} (token ${one.token}) and ${other.node} (token ${other.token})`),
  );
}

interface TenureSpan {
  readonly token: bigint | null;
  readonly fromMs: number;
  readonly toMs: number;
}

function tenuresOf(duty: RecordingDuty): TenureSpan[] {
  return duty.of('takeover').map((takeover) => {
    const token = takeover.context.fencingToken;
    const release = duty.of('release').find(({ context }) => context.fencingToken === token);
    const toMs = release?.endedAtMs ?? Number.POSITIVE_INFINITY;
    return { token, fromMs: takeover.startedAtMs, toMs };
  });
}
