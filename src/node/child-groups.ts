/**
 * The groups directly below a path. Each child of the path is one group. A watch reports added and removed
 * children.
 */
import type { Logger } from 'pino';
import { Pacing } from '../agent/pacing.js';
import { usualResyncMs } from '../agent/session/sharing.js';
import { errorMessage } from '../errors.js';
import { isGroup, rootsBelow } from '../model/paths.js';
import type { Clock } from '../ports/clock.js';
import { isStoreError, type Store } from '../ports/store.js';

export interface ChildGroupsOptions {
  readonly path: string;
  openStore(): Store;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Called with the groups' roots, in order, after each successful read. If a read fails, the previous groups
   * remain.
   */
  found(roots: readonly string[]): void;
}

const retryMs = 1_000;

export class ChildGroups {
  readonly #options: ChildGroupsOptions;
  readonly #pacing: Pacing;
  readonly #over: Promise<void>;
  #store: Store | null = null;
  #isClosed = false;
  #isGroup = false;

  /** Starts reading immediately. */
  constructor(options: ChildGroupsOptions) {
    this.#options = options;
    this.#pacing = new Pacing(options.clock);
    this.#over = this.#look();
  }

  /** Stops reading. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pacing.wake();
    await this.#over;
    await this.#store?.close();
  }

  async #look(): Promise<void> {
    while (!this.#isClosed) {
      this.#pacing.begin();
      const store = this.#current();
      const isRead = store.state === 'CONNECTED' && (await this.#read(store));
      await this.#pacing.sleep(isRead ? usualResyncMs : retryMs);
    }
  }

  #current(): Store {
    if (this.#store !== null && this.#store.state !== 'LOST') return this.#store;
    void this.#store?.close({ timeoutMs: 0 });
    const store = this.#options.openStore();
    this.#store = store;
    store.onState(() => this.#pacing.wake());
    store.onChange((path) => {
      // Ignore changes inside the groups, because the groups' own agents handle them.
      if (path === this.#options.path) this.#pacing.wake();
    });
    return store;
  }

  /** Reads the groups. Returns false if the read must be retried soon. */
  async #read(store: Store): Promise<boolean> {
    const { path, found, log } = this.#options;
    try {
      const { children } = await store.getChildren(path, { watch: true });
      this.#warn(isGroup(children));
      if (!this.#isClosed) found(rootsBelow(path, children));
      return true;
    } catch (error) {
      if (isStoreError(error, 'NO_NODE')) return await this.#await(store);
      const isRoutine = isStoreError(error) && error.outcomeUnknown;
      log[isRoutine ? 'debug' : 'warn'](
        { error },
        `cannot read the groups below ${path}: ${errorMessage(error)}`,
      );
      return false;
    }
  }

  #warn(isGroup: boolean): void {
    const { path, log } = this.#options;
    if (isGroup && !this.#isGroup)
      log.error(`groupsUnder: ${path} is itself a group; the znodes of that group are not treated as groups`);
    this.#isGroup = isGroup;
  }

  /**
   * Reports that there are no groups, and watches for the creation of the path. Like `#read`, returns false
   * if the read must be retried soon.
   */
  async #await(store: Store): Promise<boolean> {
    const { path, found } = this.#options;
    try {
      if ((await store.exists(path, { watch: true })) !== null) return false;
      found([]);
      return true;
    } catch {
      return false;
    }
  }
}
