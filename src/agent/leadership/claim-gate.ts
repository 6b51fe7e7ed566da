/**
 * Holds a claim back while its lease would end before it can be renewed, as it would after a stall: the signs
 * of life from before are too old, those since too young.
 *
 * Not promised: that a claim's lease always lasts. A session that is alive has new signs within half its
 * timeout, so a claim is held back no longer than that, however slow the servers answer.
 */
import { renewalIntervalMs } from '../../core/lease.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';

type GateClock = Pick<Clock, 'monotonicMs' | 'timer'>;

const longestShare = 1 / 2;

export class ClaimGate {
  readonly #clock: GateClock;
  readonly #wake: () => void;
  /** When a claim was first held back, and last; null while none is. */
  #held: { readonly sinceMs: number; readonly lastMs: number } | null = null;
  #cancelTimer: (() => void) | null = null;

  /** `wake` is called when a claim that was held back is to be tried again. */
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
    // A longer gap is another stall, or another claim.
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
