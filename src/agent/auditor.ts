/**
 * The watch that the next in line keeps over the elector: every so often it reads the whole group, decides for itself,
 * and unseats an elector under which the same decision has been due for longer than any reason could explain.
 *
 * Safe at any time: an elector's writes check its seat, so one that was unseated writes nothing.
 */
import type { GroupPaths } from '../core/paths.js';
import { slotStates } from '../core/slots.js';
import { type GroupSnapshot, writeOf } from '../core/snapshot.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import type { Elector } from './elector.js';
import { observe } from './observe.js';
import type { ScoreReader } from './score-reader.js';

export interface AuditorOptions {
  readonly node: string;
  readonly paths: GroupPaths;
  readonly clock: Clock;
  readonly elector: Elector;
  readonly scores: ScoreReader;
  /** Between two looks. */
  auditMs(): number;
}

export class Auditor {
  readonly #options: AuditorOptions;
  #dueAtMs = Number.NEGATIVE_INFINITY;
  /** The decision that is due, and the elector that does not make it. */
  #silentSince: { readonly key: string; readonly atMs: number } | null = null;

  constructor(options: AuditorOptions) {
    this.#options = options;
  }

  /** Audits where this node is the next in line and it is time again. Throws StoreError. */
  async look(store: Store, { seat, others = [] }: GroupSnapshot): Promise<void> {
    const { clock, node, paths, elector, scores } = this.#options;
    const nowMs = clock.monotonicMs();
    if (seat === null || !seat.second || seat.below === null || nowMs < this.#dueAtMs) return;
    this.#dueAtMs = nowMs + this.#options.auditMs();
    const { snapshot } = await observe({ store, paths, node, scores }, 'auditor', seat, {
      count: others.length + 1,
      own: [],
    });
    if (snapshot.members === null) return;
    const turn = { store, snapshot, members: snapshot.members, seat: seat.name };
    const isDue = await elector.wouldWrite(turn);
    if (!this.#isSilentForLong(isDue ? keyOf(snapshot, seat.below) : null, store)) return;
    this.#silentSince = null;
    await elector.unseat(turn, seat.below);
  }

  #isSilentForLong(key: string | null, store: Store): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (key === null) this.#silentSince = null;
    else if (this.#silentSince?.key !== key) this.#silentSince = { key, atMs: nowMs };
    const auditMs = this.#options.auditMs();
    const patienceMs = 2 * store.negotiatedTimeoutMs + auditMs;
    return this.#silentSince !== null && nowMs - this.#silentSince.atMs >= patienceMs;
  }
}

/** Of what is due, and to whom: the same at two looks, it was so between them. */
function keyOf(snapshot: GroupSnapshot, elector: string): string {
  const decisions = slotStates(snapshot).map(({ elected }) => writeOf(elected));
  return [writeOf(snapshot.config), ...decisions, elector].join(' ');
}
