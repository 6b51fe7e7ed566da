/**
 * Reads the registrations to find out which nodes are in the group, and at which address each node answers
 * probes. The directory sets no watches, and sends one request every ten seconds as long as membership does
 * not change. After a change, it sends one more request for each new node, and for each node that does not
 * answer at its known address.
 */

import { parseJson } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { registrationSchema } from '../model/registration.js';
import type { ProbeAddress } from '../model/znodes.js';
import type { Clock } from '../ports/clock.js';
import { isStoreError, type Store } from '../ports/store.js';

const lookEveryMs = 10_000;
/**
 * Pause after the first read, in milliseconds. Each later pause is twice as long, up to `lookEveryMs`. Other
 * nodes often start at the same time, so early repetitions are useful.
 */
const firstLookAgainMs = 1_000;
/**
 * Interval, in milliseconds, at which the address of a node that does not answer is read again. It applies
 * even if membership does not change.
 */
const lookUpSilentEveryMs = 300_000;

export interface DirectoryOptions {
  readonly paths: GroupPaths;
  /** Id of this node. This node is not one of its own peers. */
  readonly node: string;
  readonly clock: Clock;
  /** Returns the session for reading, or null if there is none. */
  session(): Store | null;
  /** Returns whether a node answers at its known address, and the monotonic time of its last answer. */
  answers(node: string): { readonly now: boolean; readonly lastAtMs: number };
  /**
   * Receives the current addresses, keyed by node id. The address of a node that does not answer probes is
   * null.
   */
  found(addresses: ReadonlyMap<string, ProbeAddress | null>): void;
  failed(error: unknown): void;
}

interface Entry {
  readonly address: ProbeAddress | null;
  readonly readAtMs: number;
  /** The zxid (transaction id) of the last change to the group's membership before this read. */
  readonly membership: bigint;
}

export class Directory {
  readonly #options: DirectoryOptions;
  #entries = new Map<string, Entry>();
  #nextMs = firstLookAgainMs;
  #cancel = () => {};
  #isClosed = false;

  /** Starts reading immediately, and repeats the read until `close`. */
  constructor(options: DirectoryOptions) {
    this.#options = options;
    void this.#look();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  async #look(): Promise<void> {
    const { session, found, failed, clock } = this.#options;
    const store = session();
    const isInTouch = store?.state === 'CONNECTED';
    try {
      if (isInTouch) await this.#read(store);
      if (!this.#isClosed) {
        found(new Map([...this.#entries].map(([node, { address }]) => [node, address])));
      }
    } catch (error) {
      failed(error);
    }
    if (this.#isClosed) return;
    this.#cancel = clock.timer(this.#nextMs * (0.9 + 0.2 * Math.random()), () => void this.#look());
    if (isInTouch) this.#nextMs = Math.min(2 * this.#nextMs, lookEveryMs);
  }

  async #read(store: Store): Promise<void> {
    const { paths, node: self } = this.#options;
    const { children, stat } = await store.getChildren(paths.nodes);
    const names = children.filter((name) => name !== self);
    const reads = names.map(async (name): Promise<[string, Entry] | null> => {
      const known = this.#entries.get(name);
      if (known !== undefined && !this.#isOutdated(name, known, stat.pzxid)) return [name, known];
      const address = await this.#addressOf(store, name);
      if (address === undefined) return null;
      return [name, { address, readAtMs: this.#options.clock.monotonicMs(), membership: stat.pzxid }];
    });
    this.#entries = new Map((await Promise.all(reads)).filter((entry) => entry !== null));
  }

  /**
   * Whether a known address must be read again. A node may have come back with the same id but at another
   * address.
   */
  #isOutdated(node: string, { readAtMs, membership }: Entry, now: bigint): boolean {
    const answers = this.#options.answers(node);
    if (answers.now) return false;
    if (membership !== now || answers.lastAtMs > readAtMs) return true;
    return this.#options.clock.monotonicMs() - readAtMs > lookUpSilentEveryMs;
  }

  /**
   * Reads a node's address. Returns null if the node does not answer probes, or if its registration cannot be
   * read. Returns undefined if the node has left.
   */
  async #addressOf(store: Store, node: string): Promise<ProbeAddress | null | undefined> {
    const { paths } = this.#options;
    try {
      const { data } = await store.getData(paths.node(node));
      return parseJson(registrationSchema, data.toString('utf8')).value?.probe ?? null;
    } catch (error) {
      if (isStoreError(error, 'NO_NODE')) return undefined;
      if (isStoreError(error, 'NO_AUTH')) return null;
      throw error;
    }
  }
}
