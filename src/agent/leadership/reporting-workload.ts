/**
 * Wraps a workload and reports how its runs end. Also reports how much of a lease was left when the workload
 * ran a release on its own.
 */
import type { Clock } from '../../ports/clock.js';
import type {
  HookContext,
  HookResult,
  HookRun,
  Phase,
  Workload,
  WorkloadEnd,
  WorkloadLease,
} from '../../ports/workload.js';
import type { AgentEvent } from '../events.js';

export class ReportingWorkload implements Workload {
  readonly #workload: Workload;
  readonly #clock: Clock;
  readonly #notify: (event: AgentEvent) => void;
  /** Current lease. Null if there is none, or if its remaining time has already been reported. */
  #lease: WorkloadLease | null = null;
  /** Release that runs when the lease ends without a renewal. */
  #release: HookContext | null = null;
  /**
   * Number of times that a lease has ended without a renewal. Each release that runs for this reason is
   * reported once, even if requested releases were waiting for its outcome.
   */
  #ends = 0;

  constructor(workload: Workload, clock: Clock, notify: (event: AgentEvent) => void) {
    this.#workload = workload;
    this.#clock = clock;
    this.#notify = notify;
    workload.onEnd((end) => this.#ended(end));
  }

  has(phase: Phase): boolean {
    return this.#workload.has(phase);
  }

  run(context: HookContext): HookRun {
    const run = this.#workload.run(context);
    const { phase } = context;
    const ends = this.#ends;
    const lease = phase === 'release' && this.#isDue() ? this.#lease : null;
    void run.outcome.then((outcome) => {
      if (phase === 'release' && ends !== this.#ends) return;
      if (this.#workload.has(phase)) this.#notify({ kind: 'ran', context, outcome });
      if (lease !== null) this.#fenced(outcome, lease.endsAtMs - this.#clock.monotonicMs());
    });
    return run;
  }

  holdLease(lease: WorkloadLease, release: HookContext): void {
    this.#lease = lease;
    this.#release = release;
    this.#workload.holdLease(lease, release);
  }

  endLeadership(): void {
    this.#lease = null;
    this.#workload.endLeadership();
  }

  onEnd(listener: (end: WorkloadEnd) => void): () => void {
    return this.#workload.onEnd(listener);
  }

  close(): Promise<boolean> {
    return this.#workload.close();
  }

  #isDue(): boolean {
    return this.#lease !== null && this.#clock.monotonicMs() >= this.#lease.releaseAtMs;
  }

  #ended(end: WorkloadEnd): void {
    // The workload's processes are proven dead. Even if the release runs late, nothing is left running after
    // the end of the lease.
    if (end.cause === 'guard-lost' && end.provenDead) this.#lease = null;
    if (end.cause !== 'lease-ended') return;
    this.#ends += 1;
    const context = this.#release;
    if (this.#workload.has('release') && context !== null)
      this.#notify({ kind: 'ran', context, outcome: end.release });
    if (end.leaseLeftMs !== null) this.#fenced(end.release, end.leaseLeftMs);
  }

  /**
   * Reports a release that ran because the lease was not renewed. Reports nothing if the workload is not
   * proven dead, because it may still be running. Also reports nothing if there is no takeover phase. In that
   * case, nothing was started that could outlive the lease.
   */
  #fenced({ provenDead }: HookResult, leaseLeftMs: number): void {
    if (!provenDead || this.#lease === null || !this.#workload.has('takeover')) return;
    this.#lease = null;
    this.#notify({ kind: 'self-fenced', leaseLeftMs });
  }
}
