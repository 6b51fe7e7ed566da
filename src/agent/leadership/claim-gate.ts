/**
 * Delays a claim whose lease would end before it can be renewed. This happens after a stall: earlier
 * heartbeats are too old for a lease, and later ones are too recent to be proven yet.
 *
 * Not promised: that a claim's lease always lasts until its renewal. Within half of the session timeout, a
 * live session has heartbeats that are recent enough for a lease. A claim is never delayed for longer than
 * half of the timeout, however slowly the servers answer.
 */
import { renewalIntervalMs } from '../../lease/lease.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';

type GateClock = Pick<Clock, 'monotonicMs' | 'timer'>;

const longestShare = 1 / 2;

export class ClaimGate {
  readonly #clock: GateClock;
  readonly #wake: () => void;
  /** The instants at which the current claim was first and last delayed. Null while no claim is delayed. */
  #held: { readonly sinceMs: number; readonly lastMs: number } | null = null;
  #cancelTimer: (() => void) | null = null;

  /** Calls `wake` when a delayed claim should be retried. */
  constructor({ clock, wake }: { readonly clock: GateClock; readonly wake: () => void }) {
    this.#clock = clock;
    this.#wake = wake;
  }

  isClosed(store: Pick<Store, 'lastsToRenewal' | 'negotiatedTimeoutMs'>): boolean {
    if (store.lastsToRenewal()) {
      this.#held = null;
      return false;
    }
    const nowMs = this.#clock.monotonicMs();
    const intervalMs = renewalIntervalMs(store.negotiatedTimeoutMs);
    // A longer gap means that another stall has occurred, or that this is another claim.
    const held = this.#held;
    const sinceMs = held !== null && nowMs - held.lastMs < 2 * intervalMs ? held.sinceMs : nowMs;
    this.#held = { sinceMs, lastMs: nowMs };
    if (nowMs - sinceMs >= store.negotiatedTimeoutMs * longestShare) return false;
    this.#cancelTimer ??= this.#clock.timer(intervalMs, () => {
      this.#cancelTimer = null;
      this.#wake();
    });
    return true;
  }

  close(): void {
    this.#cancelTimer?.();
  }
}
