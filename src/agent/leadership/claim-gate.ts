/**
 * Holds a claim back while its lease would end before it can be renewed. This happens after a stall: the
 * earlier signs of life are too old, and the later ones are too recent.
 *
 * Not promised: that a claim's lease always lasts until its renewal. A live session has new signs of life
 * within half its timeout. A claim is held back no longer than that, however slowly the servers answer.
 */
import { renewalIntervalMs } from '../../core/lease.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';

type GateClock = Pick<Clock, 'monotonicMs' | 'timer'>;

const longestShare = 1 / 2;

export class ClaimGate {
  readonly #clock: GateClock;
  readonly #wake: () => void;
  /** When a claim was first held back, and when last. Null while none is. */
  #held: { readonly sinceMs: number; readonly lastMs: number } | null = null;
  #cancelTimer: (() => void) | null = null;

  /** Calls `wake` when a claim that was held back should be retried. */
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
    // A longer gap means another stall, or another claim.
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
