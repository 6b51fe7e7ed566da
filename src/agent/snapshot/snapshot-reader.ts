/**
 * A node's view of its group. Reads only as much as the node's part requires. If a read shows that the node's
 * part has changed, reads again. Keeps its knowledge from one round to the next.
 */

import { afterHandover } from '../../core/prepared-decision.js';
import type { GroupConfig } from '../../model/group-config.js';
import { pathsOfSlot } from '../../model/paths.js';
import { slotStates } from '../../model/slots.js';
import type { GroupSnapshot } from '../../model/snapshot.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { type KnownTree, nothingKnown } from '../../tree/ensure-tree.js';
import { type DecisionMade, withDecisions } from '../elector/turn.js';
import type { TokenMemory } from '../leadership/token-memory.js';
import {
  covers,
  noSeat,
  type Observed,
  observe,
  oneSlot,
  type Part,
  partFor,
  parts,
  type ReadingNode,
  type SeatKnown,
  type SlotsKnown,
  slotsFor,
} from './observe.js';
import { WatchedCache } from './watched-cache.js';

/**
 * Number of nodes in the largest group in which the nodes clear their caches at the resync interval. In a
 * larger group, more nodes would read more znodes again, so the nodes clear their caches less often.
 */
const usualSize = 100;

export interface SnapshotReaderOptions extends ReadingNode {
  readonly clock: Clock;
  readonly tokens: TokenMemory;
  /**
   * Interval at which the cache is cleared. It limits how long a lost event can go unnoticed. A large group
   * uses a longer interval.
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
  /** State of the tree, as last read by the previous session. */
  #before: KnownTree = nothingKnown;
  #placedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SnapshotReaderOptions) {
    this.#options = options;
  }

  /**
   * The last snapshot, limited to what this node needs for its part in the group. Null if this session has
   * not read a snapshot yet.
   */
  get snapshot(): GroupSnapshot | null {
    return this.#snapshot;
  }

  /**
   * Last readable configuration from any session. Null if no readable configuration has been found so far.
   */
  get config(): GroupConfig | null {
    return this.#config;
  }

  get seat(): SeatKnown {
    return this.#seat;
  }

  get part(): Part {
    return this.#part;
  }

  /** Contents with which a deleted tree can be recreated. */
  get known(): KnownTree {
    const snapshot = this.#snapshot;
    const states = snapshot === null ? [] : slotStates(snapshot);
    // Includes slots that could not be read because they do not exist.
    const elected = Array.from({ length: this.#slots.count }, (_, index) => {
      const read = states.find(({ slot }) => slot === index + 1)?.elected.value;
      return (snapshot === null ? this.#before.elected[index] : read) ?? null;
    });
    if (snapshot === null) return { ...this.#before, elected };
    return { config: this.#config, elected, history: snapshot.history?.value ?? null };
  }

  /** Time until scores must be read again. Infinity if no rule compares scores. */
  get scoresInMs(): number {
    return this.#options.scores.nextInMs;
  }

  /** Starts a new session. Forgets everything except the contents for recreating a missing tree. */
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

  /**
   * Reads the group. `leadership` is the slot of this node's leadership, or null if it has none. Throws
   * StoreError.
   */
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
   * The last snapshot, without the claims that were reported as changed. It is used for steps that may be
   * tried before a read. The write of such a step checks everything that the step depends on.
   *
   * If the claim has changed and this node's seat has been written to, this node is assumed to be elected
   * (see `afterHandover`).
   *
   * Null if the connection was interrupted, or if the configuration, a decision or the successor was reported
   * as changed. In these cases, versions may have started over. A claim with the same version may then belong
   * to another node.
   */
  get expected(): GroupSnapshot | null {
    const { paths } = this.#options;
    const reads = this.#reads;
    if (this.#snapshot === null || reads?.isUnbroken !== true) return null;
    if (reads.isStale(paths.config) || reads.isStale(paths.successor)) return null;
    const { name } = this.#seat;
    if (name !== null && reads.isStale(paths.seat(name)) && reads.isStale(paths.current)) {
      const handedOver = afterHandover(this.#snapshot, this.#options.node);
      if (handedOver !== null) return handedOver;
    }
    const states = slotStates(this.#snapshot);
    if (states.some(({ slot }) => reads.isStale(pathsOfSlot(paths, slot).elected))) return null;
    const [first, ...others] = states.map((state) => {
      const isGone = reads.isStale(pathsOfSlot(paths, state.slot).current);
      return isGone ? { ...state, current: null } : state;
    });
    return { ...this.#snapshot, current: first?.current ?? null, others };
  }

  /**
   * Applies decisions that this node made on the basis of the last snapshot. The result is used until the
   * next read.
   */
  decided(decisions: readonly DecisionMade[]): GroupSnapshot | null {
    if (this.#snapshot === null) return null;
    this.#snapshot = withDecisions(this.#snapshot, decisions);
    for (const { slot } of decisions) this.#reads?.wrote(pathsOfSlot(this.#options.paths, slot).elected);
    return this.#snapshot;
  }

  /** Whether this node's seat was written to. The elector writes to the seat when it elects the node. */
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
    const scope = { part, slots: this.#slots, seat: this.#seatKnown(reads) };
    return await reads.together(() => observe({ ...this.#options, store, reads }, scope));
  }

  /**
   * Returns the known seat. Periodically forgets its position, because no watch fires when the predecessor
   * becomes the elector.
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
