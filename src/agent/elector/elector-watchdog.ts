/**
 * The watch that the next in line keeps over the elector: every so often it decides for itself by all that it
 * knows of the group, and unseats an elector under which the same decision has been due for longer than any
 * reason could explain.
 *
 * Safe at any time: an elector's writes check its seat, so one that was unseated writes nothing.
 */
import { slotStates } from '../../model/slots.js';
import { type GroupSnapshot, writeOf } from '../../model/snapshot.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import type { Elector } from './elector.js';

export interface ElectorWatchdogOptions {
  readonly clock: Clock;
  readonly elector: Elector;
  /** Between two looks. */
  electorWatchdogMs(): number;
}

export class ElectorWatchdog {
  readonly #options: ElectorWatchdogOptions;
  #dueAtMs = Number.NEGATIVE_INFINITY;
  /** The decision that is due, and the elector that does not make it. */
  #silentSince: { readonly key: string; readonly atMs: number } | null = null;

  constructor(options: ElectorWatchdogOptions) {
    this.#options = options;
  }

  /** Audits what was read of the whole group. Throws StoreError. */
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

/** Of what is due, and to whom: the same at two looks, it was so between them. */
function keyOf(snapshot: GroupSnapshot, elector: string): string {
  const decisions = slotStates(snapshot).map(({ elected }) => writeOf(elected));
  return [writeOf(snapshot.config), ...decisions, elector].join(' ');
}
