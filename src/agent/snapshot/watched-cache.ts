/**
 * Reads of a group's znodes that are not sent anew while it is known what they would tell: what was read
 * under a watch stands until that watch tells of a change. ZooKeeper sends the news of a change before the
 * answer to anything that is sent after it, so what is known is no older than an answer of the same server
 * would be, nor than one's own writes.
 *
 * Not promised: that a watch is never lost. `forget` has all of it read anew.
 */
import { type ReadOptions, type Stat, type Store, StoreError } from '../../ports/store.js';

export type Reader = Pick<Store, 'getData' | 'getChildren' | 'exists'>;

/** Under changes without end all is asked for anew, instead of what has changed yet again. */
const tries = 10;

type Known<T> = Map<string, Promise<T>>;

export class WatchedCache implements Reader {
  readonly #store: Store;
  readonly #data: Known<{ data: Buffer; stat: Stat }> = new Map();
  readonly #children: Known<{ children: string[]; stat: Stat }> = new Map();
  readonly #stats: Known<Stat | null> = new Map();
  /** What was known, and was told to have changed, and was not asked for since. */
  readonly #told = new Set<string>();
  /** How often something that was known was told to have changed, or may have without that. */
  #changes = 0;
  /**
   * How often touch was lost or regained, and that before what was seen together last; null while that is
   * being read, or could not be.
   */
  #breaks = 0;
  #seenAfter: number | null = null;

  constructor(store: Store) {
    this.#store = store;
    store.onChange((path) => {
      for (const known of this.#all) {
        if (!known.delete(path)) continue;
        this.#told.add(path);
        this.#changes += 1;
      }
    });
    // Out of touch, nobody tells of changes; and on another server some may not have happened yet.
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
   * What `read` makes of several znodes: where some of it is asked for and the rest is known, the rest was
   * still so when the last of it was answered. So no part is seen to be older than one that was asked for
   * before it.
   */
  async together<T>(read: (reads: Reader) => Promise<T>): Promise<T> {
    this.#seenAfter = null;
    for (let tried = 1; ; tried++) {
      if (tried === tries) this.forget();
      const [changes, breaks] = [this.#changes, this.#breaks];
      const seen = await read(this);
      if (changes !== this.#changes && tried < tries) continue;
      this.#seenAfter = breaks;
      return seen;
    }
  }

  /** In touch since what was seen last: what has changed since was told of. */
  get isUnbroken(): boolean {
    return this.#seenAfter === this.#breaks;
  }

  /** Whether its change was told of since it was read last. */
  isStale(path: string): boolean {
    return this.#told.has(path);
  }

  /** This client itself wrote to it: the change that was told of is that. */
  wrote(path: string): void {
    this.#told.delete(path);
  }

  forget(): void {
    this.#told.clear();
    for (const known of this.#all) known.clear();
  }

  /**
   * Where it fails, nothing is known of the znode: of what a client may not read, ZooKeeper tells it no
   * changes.
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
   * Known from when it is asked for: a change that is told of before the answer is used counts against it.
   */
  #read<T>(known: Known<T>, path: string, options: ReadOptions, send: () => Promise<T>): Promise<T> {
    const found = known.get(path);
    if (found !== undefined) return found;
    const sent = send();
    if (options.watch !== true) return sent;
    this.#told.delete(path);
    known.set(path, sent);
    sent.catch(() => {
      if (known.get(path) === sent) known.delete(path);
    });
    return sent;
  }
}
