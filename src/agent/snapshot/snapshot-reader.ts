/**
 * A node's view of its group: reads as much as the node's part calls for, which it may learn only by reading,
 * and keeps what it knows from one look to the next.
 */
import type { Decision } from '../../core/group-round.js';
import type { GroupConfig } from '../../model/group-config.js';
import { pathsOfSlot } from '../../model/paths.js';
import { slotStates } from '../../model/slots.js';
import type { GroupSnapshot } from '../../model/snapshot.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { type KnownTree, nothingKnown } from '../../tree/ensure-tree.js';
import { withDecisions } from '../elector/turn.js';
import type { TokenMemory } from '../leadership/token-memory.js';
import {
  covers,
  noSeat,
  type Observed,
  type Onlooker,
  observe,
  oneSlot,
  type Part,
  partFor,
  parts,
  type SeatKnown,
  type SlotsKnown,
  slotsFor,
} from './observe.js';
import { WatchedCache } from './watched-cache.js';

/**
 * Of groups up to this size all that is known is forgotten every so often; of larger ones less often, since
 * there is the more to read again, and the more that read it.
 */
const usualSize = 100;

export interface SnapshotReaderOptions extends Onlooker {
  readonly clock: Clock;
  readonly tokens: TokenMemory;
  /**
   * What is known is forgotten this often, so that not even a lost event is for ever; in a large group less
   * often.
   */
  resyncMs(): number;
}

export class SnapshotReader {
  readonly #options: SnapshotReaderOptions;
  #reads: WatchedCache | null = null;
  #snapshot: GroupSnapshot | null = null;
  #config: GroupConfig | null = null;
  #seat: SeatKnown = noSeat;
  #slots: SlotsKnown = oneSlot;
  #part: Part = 'standby';
  /** Known in the session before. */
  #before: KnownTree = nothingKnown;
  #placedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SnapshotReaderOptions) {
    this.#options = options;
  }

  /** What was read last, as much as the node's part calls for. Null when nothing was in this session. */
  get snapshot(): GroupSnapshot | null {
    return this.#snapshot;
  }

  /** The last one that could be read, in whatever session; null: none could. */
  get config(): GroupConfig | null {
    return this.#config;
  }

  get seat(): SeatKnown {
    return this.#seat;
  }

  get part(): Part {
    return this.#part;
  }

  /** What a tree that was deleted can be made again with. */
  get known(): KnownTree {
    const snapshot = this.#snapshot;
    const states = snapshot === null ? [] : slotStates(snapshot);
    // Also those that could not be read because they are not there.
    const elected = Array.from({ length: this.#slots.count }, (_, index) => {
      const read = states.find(({ slot }) => slot === index + 1)?.elected.value;
      return (snapshot === null ? this.#before.elected[index] : read) ?? null;
    });
    if (snapshot === null) return { ...this.#before, elected };
    return { config: this.#config, elected, history: snapshot.history?.value ?? null };
  }

  /** When the next look is worth having for the sake of scores; Infinity where nobody compares them. */
  get scoresInMs(): number {
    return this.#options.scores.nextInMs;
  }

  /** In a new session nothing is known, but what a tree that is missing is made with. */
  begin(): void {
    this.#before = this.known;
    this.#reads = null;
    this.#snapshot = null;
    this.#seat = noSeat;
    this.#part = 'standby';
  }

  sits(name: string | null): void {
    this.#seat = { ...noSeat, name };
  }

  /** `leadership`: the slot that this node's is of, where it has one. Throws StoreError. */
  async look(store: Store, leadership: number | null): Promise<GroupSnapshot> {
    const { node } = this.#options;
    for (;;) {
      const [part, slots] = [this.#isCalled() ? 'involved' : this.#part, this.#slots] as const;
      const { snapshot, seat } = await this.#observe(store, part);
      this.#config = snapshot.config.value ?? this.#config;
      const called = partFor(snapshot, node, store.sessionId, leadership !== null);
      this.#seat = seat;
      this.#part = called;
      this.#slots = slotsFor(snapshot, node, store.sessionId, slots, leadership);
      if (parts.indexOf(called) <= parts.indexOf(part) && covers(called, slots, this.#slots)) {
        this.#snapshot = snapshot;
        this.#options.tokens.look(snapshot);
        return snapshot;
      }
    }
  }

  /**
   * What is to be expected before it is read: as it was, but for claims of which a change was told, which are
   * gone. For what may be tried because its write checks all that it rests on. Null where more may have
   * changed than claims: versions begin anew, and a claim of the same version may be another's.
   */
  get expected(): GroupSnapshot | null {
    const { paths } = this.#options;
    const reads = this.#reads;
    if (this.#snapshot === null || reads?.isUnbroken !== true || reads.isStale(paths.config)) return null;
    const states = slotStates(this.#snapshot);
    if (states.some(({ slot }) => reads.isStale(pathsOfSlot(paths, slot).elected))) return null;
    const [first, ...others] = states.map((state) => {
      const isGone = reads.isStale(pathsOfSlot(paths, state.slot).current);
      return isGone ? { ...state, current: null } : state;
    });
    return { ...this.#snapshot, current: first?.current ?? null, others };
  }

  /**
   * This node made these decisions by what it saw last: until it looks again, that is what is expected to
   * stand.
   */
  decided(decisions: readonly Decision[]): GroupSnapshot | null {
    if (this.#snapshot === null) return null;
    this.#snapshot = withDecisions(this.#snapshot, decisions);
    for (const { slot } of decisions) this.#reads?.wrote(pathsOfSlot(this.#options.paths, slot).elected);
    return this.#snapshot;
  }

  /** Something was written to its seat, as where this node is elected. */
  #isCalled(): boolean {
    const { name } = this.#seat;
    return (
      this.#part === 'standby' &&
      name !== null &&
      this.#reads?.isStale(this.#options.paths.seat(name)) === true
    );
  }

  async #observe(store: Store, part: Part): Promise<Observed> {
    const reads = this.#reads ?? new WatchedCache(store);
    this.#reads = reads;
    const asked = { part, slots: this.#slots, seat: this.#seatKnown(reads) };
    return await reads.together(() => observe({ ...this.#options, store, reads }, asked));
  }

  /**
   * The seat, its place forgotten now and again: that the seat below has become the elector's wakes nobody.
   */
  #seatKnown(reads: WatchedCache): SeatKnown {
    const nowMs = this.#options.clock.monotonicMs();
    const everyMs = this.#options.resyncMs() * Math.max(1, this.#seat.among / usualSize);
    if (nowMs - this.#placedAtMs < everyMs) return this.#seat;
    this.#placedAtMs = nowMs;
    reads.forget();
    return { ...this.#seat, below: null };
  }
}
