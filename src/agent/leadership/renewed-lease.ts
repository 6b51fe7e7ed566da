/**
 * The lease of one leadership: the instant until which the node may lead, and the end of the lease as last
 * reported to the workload.
 */
import { type Lease, leaseFrom } from '../../lease/lease.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';

type ProvenSession = Pick<Store, 'provenAliveAtMs' | 'negotiatedTimeoutMs'>;

export class RenewedLease {
  readonly #store: ProvenSession;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #ended: Lease | null = null;
  #reportedEndMs = Number.POSITIVE_INFINITY;

  constructor(store: ProvenSession, clock: Pick<Clock, 'monotonicMs'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * The lease that applies now. A lease that has ended is never extended, but it may still become shorter.
   */
  get inForce(): Lease {
    const lease = leaseFrom(this.#store.provenAliveAtMs(), this.#store.negotiatedTimeoutMs);
    if (this.#ended === null) {
      if (this.#clock.monotonicMs() >= lease.releaseAtMs) this.#ended = lease;
      return lease;
    }
    const { endsAtMs, releaseAtMs } = this.#ended;
    // A newer lease can have a shorter timeout. It may then end sooner, and yet have a later release time.
    if (lease.endsAtMs < endsAtMs)
      this.#ended = { ...lease, releaseAtMs: Math.min(lease.releaseAtMs, releaseAtMs) };
    return this.#ended;
  }

  /**
   * Returns the lease to report to the workload. Returns null if the workload needs no update. A lease that
   * has ended is reported only if it has become shorter.
   */
  news(isBegun: boolean): Lease | null {
    const { inForce } = this;
    const hasEnded = isBegun && this.#clock.monotonicMs() >= inForce.releaseAtMs;
    if (hasEnded && inForce.endsAtMs >= this.#reportedEndMs) return null;
    this.#reportedEndMs = inForce.endsAtMs;
    return inForce;
  }
}
