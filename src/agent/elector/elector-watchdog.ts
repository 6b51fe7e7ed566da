/**
 * The next elector's check on the elector. From time to time, the next elector uses all that it knows about
 * the group to determine which decision is due. It unseats the elector if the same decision has been due for
 * longer than any legitimate reason could explain.
 *
 * Unseating the elector is safe at any time. Every write by an elector checks the elector's seat, so an
 * unseated elector cannot write.
 */
import { slotStates } from '../../model/slots.js';
import { type GroupSnapshot, writeOf } from '../../model/snapshot.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import type { Elector } from './elector.js';

export interface ElectorWatchdogOptions {
  readonly clock: Clock;
  readonly elector: Elector;
  /** Time between checks. */
  electorWatchdogMs(): number;
}

export class ElectorWatchdog {
  readonly #options: ElectorWatchdogOptions;
  #dueAtMs = Number.NEGATIVE_INFINITY;
  /**
   * A decision that is due but has not been made. `key` is the key that `keyOf` returns for the decision and
   * its elector. `atMs` is the instant of the first check that found this key. Null if no decision is due.
   */
  #silentSince: { readonly key: string; readonly atMs: number } | null = null;

  constructor(options: ElectorWatchdogOptions) {
    this.#options = options;
  }

  /** Checks the elector against a snapshot of the whole group. Throws StoreError. */
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
 * Returns a key for the decision that is due and the elector that must make it. If two checks find the same
 * key, neither the configuration nor a decision was written between them.
 */
function keyOf(snapshot: GroupSnapshot, elector: string): string {
  const decisions = slotStates(snapshot).map(({ elected }) => writeOf(elected));
  return [writeOf(snapshot.config), ...decisions, elector].join(' ');
}
