/**
 * Reads and changes the group for the HTTP interface. It uses a separate session. Readers therefore neither
 * delay the agent's lease renewals nor trigger its rounds, however many readers there are. The session stays
 * open while it is in use, and for a short time afterwards.
 */
import type { Rules } from '../../strategies/registry.js';
import { errorMessage, PetrelError } from '../errors.js';
import type { GroupAccess } from '../group/config-write.js';
import { type History, historyOf, toRead, type Wanted } from '../group/history.js';
import { KeptClock } from '../group/time.js';
import { type GroupView, readGroup } from '../group/view.js';
import { type Outcome, outcomeOfTerm } from '../group/wait.js';
import type { GroupPaths } from '../model/paths.js';
import { slotOf } from '../model/slots.js';
import type { TransitionRecord } from '../model/znodes.js';
import type { Clock } from '../ports/clock.js';
import { isPermissionError, isStoreError, type Store } from '../ports/store.js';
import { mostRecords, newestRecords, type StoredRecord } from '../tree/records.js';
import { Coalesced } from './coalesced.js';

export interface GroupSessionOptions {
  openStore(): Store;
  readonly paths: GroupPaths;
  readonly rules: Rules;
  readonly clock: Clock;
}

/**
 * The state of a group, and the time at which it was read. The time is in milliseconds since the epoch, on
 * the ensemble's clock.
 */
export interface Look {
  readonly view: GroupView;
  readonly nowMs: number;
}

const connectTimeoutMs = 5_000;
const idleMs = 30_000;
const closeTimeoutMs = 500;
/** Minimum time between two reads of the group, in milliseconds. It applies to all requests together. */
const minIntervalMs = 50;

export class GroupSession {
  readonly #options: GroupSessionOptions;
  readonly #time: KeptClock;
  readonly #looks: Coalesced<Look>;
  readonly #records: Coalesced<StoredRecord[]>;
  #wanted = 0;
  #store: Store | null = null;
  #users = 0;
  #cancelIdle: () => void = () => {};
  #closed = false;

  constructor(options: GroupSessionOptions) {
    const { clock } = options;
    this.#options = options;
    this.#time = new KeptClock(clock);
    const work = () => this.use((access) => this.#read(access));
    this.#looks = new Coalesced({ clock, minIntervalMs, work });
    this.#records = new Coalesced({ clock, minIntervalMs, work: () => this.#readRecords() });
  }

  /**
   * Returns the state of the group. The read begins after this call. Throws PetrelError (UNREACHABLE or
   * INVALID) or StoreError.
   */
  look(): Promise<Look> {
    return this.#looks.read();
  }

  /**
   * Returns the newest records of the history. The read begins after this call. Throws the same errors as
   * `look`.
   */
  async history(wanted: Wanted): Promise<History> {
    return historyOf(this.#options.paths, await this.#newest(toRead(wanted)), wanted);
  }

  /** Returns the outcome of a term, or null while there is none. Throws the same errors as `look`. */
  async outcome(term: number, slot = 1): Promise<Outcome | null> {
    const { view } = await this.look();
    return await outcomeOfTerm(view, { term, slot }, async () => {
      const records = await this.#newest(mostRecords);
      const found = records.map(({ value }) => value).find((value) => isOfTerm(value, term, slot));
      return found ?? null;
    });
  }

  /** Returns the time on the ensemble's clock in milliseconds since the epoch, as `KeptClock` does. */
  nowMs(store: Store, view: GroupView): Promise<number> {
    return this.#time.nowMs(store, view);
  }

  /**
   * Runs `work` with a connected session. Throws PetrelError UNREACHABLE if no server responds. Also throws
   * whatever `work` throws.
   */
  async use<T>(work: (access: GroupAccess) => Promise<T>): Promise<T> {
    this.#users += 1;
    this.#cancelIdle();
    try {
      const { paths, rules, clock } = this.#options;
      return await work({ store: await this.#connected(), paths, rules, clock });
    } finally {
      this.#users -= 1;
      if (this.#users === 0 && !this.#closed) this.#closeWhenIdle();
    }
  }

  /** Closes the session permanently. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelIdle();
    await this.#closeStore();
  }

  async #read(access: GroupAccess): Promise<Look> {
    const { store } = access;
    // Wait until this server has received every change that other clients have committed so far. The commands
    // do the same.
    await store.sync('/');
    const view = await readGroup(access, { scores: true });
    return { view, nowMs: await this.#time.nowMs(store, view) };
  }

  async #newest(limit: number): Promise<readonly StoredRecord[]> {
    this.#wanted = Math.max(this.#wanted, limit);
    return (await this.#records.read()).slice(0, limit);
  }

  async #readRecords(): Promise<StoredRecord[]> {
    const wanted = this.#wanted;
    this.#wanted = 0;
    return await this.use(async ({ store, paths }) => {
      await store.sync('/');
      return await newestRecords(store, paths, wanted);
    });
  }

  async #connected(): Promise<Store> {
    if (this.#closed) throw new PetrelError('UNREACHABLE', 'the agent is stopping');
    if (this.#store === null || this.#store.state === 'LOST') {
      void this.#closeStore();
      this.#store = this.#options.openStore();
    }
    const store = this.#store;
    try {
      await store.connected({ timeoutMs: connectTimeoutMs });
    } catch (error) {
      if (!isStoreError(error) || isPermissionError(error)) throw error;
      throw new PetrelError('UNREACHABLE', `ZooKeeper is unreachable: ${errorMessage(error)}`, {
        cause: error,
      });
    }
    return store;
  }

  #closeWhenIdle(): void {
    this.#cancelIdle = this.#options.clock.timer(idleMs, () => void this.#closeStore());
  }

  async #closeStore(): Promise<void> {
    const store = this.#store;
    this.#store = null;
    await store?.close({ timeoutMs: closeTimeoutMs });
  }
}

function isOfTerm(value: StoredRecord['value'], term: number, slot: number): value is TransitionRecord {
  return value?.kind === 'transition' && value.term === term && slotOf(value) === slot;
}
