/** The lease of one leadership: until when its node may lead, and which end the workload knows. */
import { type Lease, leaseFrom } from '../../core/lease.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';

type ProvenSession = Pick<Store, 'provenAliveAtMs' | 'negotiatedTimeoutMs'>;

export class RenewedLease {
  readonly #store: ProvenSession;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #ended: Lease | null = null;
  #toldEndMs = Number.POSITIVE_INFINITY;

  constructor(store: ProvenSession, clock: Pick<Clock, 'monotonicMs'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** An ended lease is never revived. It may still turn out to be shorter. */
  get inForce(): Lease {
    const lease = leaseFrom(this.#store.provenAliveAtMs(), this.#store.negotiatedTimeoutMs);
    if (this.#ended === null) {
      if (this.#clock.monotonicMs() >= lease.releaseAtMs) this.#ended = lease;
      return lease;
    }
    const { endsAtMs, releaseAtMs } = this.#ended;
    // A later proof under a smaller timeout may end sooner and still be due for release later.
    if (lease.endsAtMs < endsAtMs)
      this.#ended = { ...lease, releaseAtMs: Math.min(lease.releaseAtMs, releaseAtMs) };
    return this.#ended;
  }

  /**
   * Returns the lease to report to the workload. Null if the workload needs no update. An ended lease is
   * reported only if it is shorter.
   */
  news(isBegun: boolean): Lease | null {
    const { inForce } = this;
    const hasEnded = isBegun && this.#clock.monotonicMs() >= inForce.releaseAtMs;
    if (hasEnded && inForce.endsAtMs >= this.#toldEndMs) return null;
    this.#toldEndMs = inForce.endsAtMs;
    return inForce;
  }
}
