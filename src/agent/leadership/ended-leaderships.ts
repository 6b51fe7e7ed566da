/** This node's leaderships that were READY and have ended. The node's next claim reports them. */
import { clearedByNewEpoch, type LeaseLoss, resumption, withLeaseLoss } from '../../core/lease-loss.js';
import type { Lease } from '../../lease/lease.js';
import type { ClaimContent } from '../../model/znodes.js';
import type { Clock } from '../../ports/clock.js';

export class EndedLeaderships {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** The latest loss comes last. */
  #leaseLosses: readonly LeaseLoss[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Adds a leadership that ends now. */
  add(ended: Pick<LeaseLoss, 'slot' | 'term' | 'token' | 'reason'>, lease: Lease): void {
    this.#leaseLosses = withLeaseLoss(this.#leaseLosses, ended, lease, this.#clock.monotonicMs());
  }

  /** Clears the last loss if the new claim's token shows that the ensemble may have been unavailable. */
  claimed(token: bigint): void {
    this.#leaseLosses = clearedByNewEpoch(this.#leaseLosses, token);
  }

  /** Returns what a new claim under this term reports about the previous leadership. */
  before(by: Pick<LeaseLoss, 'slot' | 'term'>): ClaimContent['resumes'] {
    return resumption(this.#leaseLosses, by, this.#clock.monotonicMs());
  }
}
