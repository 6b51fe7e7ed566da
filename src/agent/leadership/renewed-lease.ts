/** The lease of one leadership: until when its node may lead, and which end of it the workload was told. */
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

  /** Once ended it is never revived. It may still turn out to be shorter. */
  get inForce(): Lease {
    const lease = leaseFrom(this.#store.provenAliveAtMs(), this.#store.negotiatedTimeoutMs);
    if (this.#ended === null) {
      if (this.#clock.monotonicMs() >= lease.releaseAtMs) this.#ended = lease;
      return lease;
    }
    const { endsAtMs, releaseAtMs } = this.#ended;
    // A later proof under a smaller timeout ends sooner, and yet may be released later.
    if (lease.endsAtMs < endsAtMs)
      this.#ended = { ...lease, releaseAtMs: Math.min(lease.releaseAtMs, releaseAtMs) };
    return this.#ended;
  }

  /**
   * What the workload is to be told; null: it knows enough. One that has ended is news only if it is shorter.
   */
  news(isBegun: boolean): Lease | null {
    const { inForce } = this;
    const hasEnded = isBegun && this.#clock.monotonicMs() >= inForce.releaseAtMs;
    if (hasEnded && inForce.endsAtMs >= this.#toldEndMs) return null;
    this.#toldEndMs = inForce.endsAtMs;
    return inForce;
  }
}
