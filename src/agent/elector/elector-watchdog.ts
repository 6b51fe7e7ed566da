/**
 * The next elector's check on the elector. From time to time, the next elector decides for itself from all
 * that it knows about the group. It unseats the elector if the same decision has been due for longer than any
 * reason could explain.
 *
 * Safe at any time: an elector's writes check its seat, so an unseated elector writes nothing.
 */
import { slotStates } from '../../model/slots.js';
import { type GroupSnapshot, writeOf } from '../../model/snapshot.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import type { Elector } from './elector.js';

export interface ElectorWatchdogOptions {
  readonly clock: Clock;
  readonly elector: Elector;
  /** Time between two checks. */
  electorWatchdogMs(): number;
}

export class ElectorWatchdog {
  readonly #options: ElectorWatchdogOptions;
  #dueAtMs = Number.NEGATIVE_INFINITY;
  /** The due decision and the elector that does not make it, and since when. */
  #silentSince: { readonly key: string; readonly atMs: number } | null = null;

  constructor(options: ElectorWatchdogOptions) {
    this.#options = options;
  }

  /** Checks the elector, given a snapshot of the whole group. Throws StoreError. */
  async look(store: Store, snapshot: GroupSnapshot): Promise<void> {
    const { seat, members } = snapshot;
    const { clock, elector, electorWatchdogMs } = this.#options;
    if (seat === null || seat.below === null || members === null) return;
    if (clock.monotonicMs() < this.#dueAtMs) return;
    this.#dueAtMs = clock.monotonicMs() + electorWatchdogMs();
    const turn = { store, snapshot, members, seat: seat.name, unwritten: null };
    const isDue = await elector.wouldWrite(turn);
    if (!this.#isSilentForLong(isDue ? keyOf(snapshot, seat.below) : null, store)) return;
    this.#silentSince = null;
    await elector.unseat(turn, seat.below);
  }

  #isSilentForLong(key: string | null, store: Store): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (key === null) this.#silentSince = null;
    else if (this.#silentSince?.key !== key) this.#silentSince = { key, atMs: nowMs };
    const electorWatchdogMs = this.#options.electorWatchdogMs();
    const patienceMs = 2 * store.negotiatedTimeoutMs + electorWatchdogMs;
    return this.#silentSince !== null && nowMs - this.#silentSince.atMs >= patienceMs;
  }
}

/**
 * Identifies the due decision and the elector that must make it. If two looks find the same key, nothing
 * changed in between.
 */
function keyOf(snapshot: GroupSnapshot, elector: string): string {
  const decisions = slotStates(snapshot).map(({ elected }) => writeOf(elected));
  return [writeOf(snapshot.config), ...decisions, elector].join(' ');
}
