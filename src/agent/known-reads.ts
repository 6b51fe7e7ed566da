/**
 * Reads of a group's znodes that are not sent anew while it is known what they would tell: what was read under a watch stands
 * until that watch tells of a change. ZooKeeper sends the news of a change before the answer to anything that is sent
 * after it, so what is known is no older than an answer of the same server would be, nor than one's own writes.
 *
 * Not promised: that a watch is never lost. `forget` has all of it read anew.
 */
import { type ReadOptions, type Stat, type Store, StoreError } from '../ports/store.js';

export type Reader = Pick<Store, 'getData' | 'getChildren' | 'exists'>;

type Known<T> = Map<string, Promise<T>>;

export class KnownReads implements Reader {
  readonly #store: Store;
  readonly #data: Known<{ data: Buffer; stat: Stat }> = new Map();
  readonly #children: Known<{ children: string[]; stat: Stat }> = new Map();
  readonly #stats: Known<Stat | null> = new Map();

  /** To be made before anybody is told of the store's changes who would read by it. */
  constructor(store: Store) {
    this.#store = store;
    store.onChange((path) => {
      for (const known of this.#all) known.delete(path);
    });
    // Out of touch, nobody tells of changes; and on another server some may not have happened yet.
    store.onState(() => this.forget());
  }

  get #all(): Map<string, unknown>[] {
    return [this.#data, this.#children, this.#stats];
  }

  forget(): void {
    for (const known of this.#all) known.clear();
  }

  async getData(path: string, options: ReadOptions = {}): Promise<{ data: Buffer; stat: Stat }> {
    const stat = this.#stats.get(path);
    if (stat !== undefined && (await stat) === null)
      throw new StoreError('NO_NODE', `there is no ${path}`, { path });
    return await this.#read(this.#data, path, options, () => this.#store.getData(path, options));
  }

  getChildren(path: string, options: ReadOptions = {}): Promise<{ children: string[]; stat: Stat }> {
    return this.#read(this.#children, path, options, () => this.#store.getChildren(path, options));
  }

  exists(path: string, options: ReadOptions = {}): Promise<Stat | null> {
    return this.#read(this.#stats, path, options, () => this.#store.exists(path, options));
  }

  /** Known from when it is asked for: a change that is told of before the answer is used counts against it. */
  #read<T>(known: Known<T>, path: string, options: ReadOptions, send: () => Promise<T>): Promise<T> {
    const found = known.get(path);
    if (found !== undefined) return found;
    const sent = send();
    if (options.watch !== true) return sent;
    known.set(path, sent);
    sent.catch(() => {
      if (known.get(path) === sent) known.delete(path);
    });
    return sent;
  }
}
