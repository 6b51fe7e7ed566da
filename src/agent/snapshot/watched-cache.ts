/**
 * Reads a group's znodes, and does not repeat a read as long as its result is known. A result that was read
 * with a watch is current until that watch reports a change. ZooKeeper reports a change before it answers any
 * later request. A known result is therefore at least as recent as any answer from the same server and any of
 * the client's own writes.
 *
 * Not promised: that a watch is never lost. After `forget`, everything is read again.
 */
import { type ReadOptions, type Stat, type Store, StoreError } from '../../ports/store.js';

export type Reader = Pick<Store, 'getData' | 'getChildren' | 'exists'>;

/**
 * Number of attempts if the group keeps changing. The last attempt reads everything again, and its result is
 * used even if something changes in the meantime.
 */
const tries = 10;

type Known<T> = Map<string, Promise<T>>;

export class WatchedCache implements Reader {
  readonly #store: Store;
  readonly #data: Known<{ data: Buffer; stat: Stat }> = new Map();
  readonly #children: Known<{ children: string[]; stat: Stat }> = new Map();
  readonly #stats: Known<Stat | null> = new Map();
  /** Paths of known results that were reported as changed and have not been read since then. */
  readonly #stale = new Set<string>();
  /** Number of times that a known result was reported as changed, or may have changed without a report. */
  #changes = 0;
  /**
   * Number of times that the connection was lost or restored. `#seenAfter` is the value of `#breaks` at the
   * start of the last `together`. It is null while that read is in progress, or if that read failed or was
   * not consistent.
   */
  #breaks = 0;
  #seenAfter: number | null = null;

  constructor(store: Store) {
    this.#store = store;
    store.onChange((path) => {
      for (const known of this.#all) {
        if (!known.delete(path)) continue;
        this.#stale.add(path);
        this.#changes += 1;
      }
    });
    // Without a connection, the server reports no changes. Another server may not have processed some of the
    // changes yet.
    store.onState(() => {
      this.#breaks += 1;
      this.#changes += 1;
      this.forget();
    });
  }

  get #all(): Map<string, unknown>[] {
    return [this.#data, this.#children, this.#stats];
  }

  /**
   * Returns the result of `read`, which reads several znodes. If some of them are requested and the others
   * are already known, the known results were still current when the last answer arrived. Therefore, no part
   * of the result is older than a part that was requested before it.
   */
  async together<T>(read: (reads: Reader) => Promise<T>): Promise<T> {
    this.#seenAfter = null;
    for (let tried = 1; ; tried++) {
      if (tried === tries) this.forget();
      const [changes, breaks] = [this.#changes, this.#breaks];
      const result = await read(this);
      const isConsistent = changes === this.#changes;
      if (!isConsistent && tried < tries) continue;
      this.#seenAfter = isConsistent ? breaks : null;
      return result;
    }
  }

  /**
   * Whether the last `together` was consistent and the connection has lasted since then, so every later
   * change has been reported.
   */
  get isUnbroken(): boolean {
    return this.#seenAfter === this.#breaks;
  }

  /** Whether the path was reported as changed since it was last read. */
  isStale(path: string): boolean {
    return this.#stale.has(path);
  }

  /** Notes that this client itself caused the reported change. */
  wrote(path: string): void {
    this.#stale.delete(path);
  }

  forget(): void {
    this.#stale.clear();
    for (const known of this.#all) known.clear();
  }

  /**
   * Reads the znode's data. After a failure, nothing is known about the znode, because ZooKeeper reports no
   * changes to a client without permission to read it.
   */
  async getData(path: string, options: ReadOptions = {}): Promise<{ data: Buffer; stat: Stat }> {
    const stat = this.#stats.get(path);
    if (stat !== undefined && (await stat) === null)
      throw new StoreError('NO_NODE', `there is no ${path}`, { path });
    const read = this.#read(this.#data, path, options, () => this.#store.getData(path, options));
    read.catch(() => this.#stats.delete(path));
    return await read;
  }

  getChildren(path: string, options: ReadOptions = {}): Promise<{ children: string[]; stat: Stat }> {
    return this.#read(this.#children, path, options, () => this.#store.getChildren(path, options));
  }

  exists(path: string, options: ReadOptions = {}): Promise<Stat | null> {
    return this.#read(this.#stats, path, options, () => this.#store.exists(path, options));
  }

  /**
   * Returns the known result, or sends the read. The result counts as known as soon as the request is sent. A
   * change that is reported before the answer arrives therefore invalidates the result.
   */
  #read<T>(known: Known<T>, path: string, options: ReadOptions, send: () => Promise<T>): Promise<T> {
    const found = known.get(path);
    if (found !== undefined) return found;
    const sent = send();
    if (options.watch !== true) return sent;
    this.#stale.delete(path);
    known.set(path, sent);
    sent.catch(() => {
      if (known.get(path) === sent) known.delete(path);
    });
    return sent;
  }
}
