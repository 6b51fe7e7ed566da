/** A duty that tells how its runs end, and how much of a lease was left when it had to release by itself. */
import type { Clock } from '../../ports/clock.js';
import type { Duty, DutyContext, DutyEnd, DutyLease, DutyOutcome, DutyRun, Phase } from '../../ports/duty.js';
import type { AgentEvent } from '../events.js';

export class ToldDuty implements Duty {
  readonly #duty: Duty;
  readonly #clock: Clock;
  readonly #tell: (event: AgentEvent) => void;
  /** Null where there is none, or it was told already what was left of it. */
  #lease: DutyLease | null = null;
  /** What is run when it ends by itself. */
  #release: DutyContext | null = null;
  /** How often a lease ended by itself: such a release is told of once, though others may have waited for it. */
  #ends = 0;

  constructor(duty: Duty, clock: Clock, tell: (event: AgentEvent) => void) {
    this.#duty = duty;
    this.#clock = clock;
    this.#tell = tell;
    duty.onEnd((end) => this.#ended(end));
  }

  has(phase: Phase): boolean {
    return this.#duty.has(phase);
  }

  run(context: DutyContext): DutyRun {
    const run = this.#duty.run(context);
    const { phase } = context;
    const ends = this.#ends;
    const lease = phase === 'release' && this.#isDue() ? this.#lease : null;
    void run.outcome.then((outcome) => {
      if (phase === 'release' && ends !== this.#ends) return;
      if (this.#duty.has(phase)) this.#tell({ kind: 'ran', context, outcome });
      if (lease !== null) this.#fenced(outcome, lease.endsAtMs - this.#clock.monotonicMs());
    });
    return run;
  }

  holdLease(lease: DutyLease, release: DutyContext): void {
    this.#lease = lease;
    this.#release = release;
    this.#duty.holdLease(lease, release);
  }

  letGo(): void {
    this.#lease = null;
    this.#duty.letGo();
  }

  onEnd(listener: (end: DutyEnd) => void): () => void {
    return this.#duty.onEnd(listener);
  }

  close(): Promise<boolean> {
    return this.#duty.close();
  }

  #isDue(): boolean {
    return this.#lease !== null && this.#clock.monotonicMs() >= this.#lease.releaseAtMs;
  }

  #ended(end: DutyEnd): void {
    // What the guard had in its care has been killed: a release that comes late outlives nothing.
    if (end.cause === 'guard-lost' && end.provenDead) this.#lease = null;
    if (end.cause !== 'lease-ended') return;
    this.#ends += 1;
    const context = this.#release;
    if (this.#duty.has('release') && context !== null)
      this.#tell({ kind: 'ran', context, outcome: end.release });
    if (end.leaseLeftMs !== null) this.#fenced(end.release, end.leaseLeftMs);
  }

  /** What is not proven dead has not ended; and where nothing was started, nothing could outlive its lease. */
  #fenced({ provenDead }: DutyOutcome, leaseLeftMs: number): void {
    if (!provenDead || this.#lease === null || !this.#duty.has('takeover')) return;
    this.#lease = null;
    this.#tell({ kind: 'self-fenced', leaseLeftMs });
  }
}
