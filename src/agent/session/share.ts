/**
 * One group's share of a session: a store like any other, except that closing it leaves the session open for
 * the other groups.
 */
import { Listeners } from '../../listeners.js';
import type { Logger } from '../../log.js';
import {
  type CallOptions,
  type CreateMode,
  type ExpectedVersion,
  type Operation,
  type ReadOptions,
  type Store,
  StoreError,
  type StoreState,
} from '../../ports/store.js';

type CloseOptions = NonNullable<Parameters<Store['close']>[0]>;

export class Share implements Store {
  readonly #store: Store;
  readonly #leave: (how: CloseOptions) => Promise<boolean>;
  readonly #changeListeners: Listeners<string>;
  readonly #stateListeners: Listeners<StoreState>;
  readonly #root: string;
  /** Watched paths outside the group, such as another group's leader. */
  readonly #elsewhere = new Set<string>();
  #left: Promise<boolean> | null = null;

  /** The share calls `leave` once. */
  constructor(store: Store, leave: (how: CloseOptions) => Promise<boolean>, root: string, log: Logger) {
    this.#changeListeners = new Listeners(log, `changes below ${root}`);
    this.#stateListeners = new Listeners(log, `the connection of ${root}`);
    this.#store = store;
    this.#leave = leave;
    this.#root = root;
  }

  /** Whether a path belongs to the group. */
  isBelow(path: string): boolean {
    return path === this.#root || path.startsWith(`${this.#root}/`);
  }

  get state(): StoreState {
    return this.#left === null || this.#store.state === 'LOST' ? this.#store.state : 'CLOSED';
  }

  get sessionId(): bigint {
    return this.#store.sessionId;
  }

  get sessionPassword(): Buffer {
    return this.#store.sessionPassword;
  }

  get unreachable(): Error | null {
    return this.#store.unreachable;
  }

  get negotiatedTimeoutMs(): number {
    return this.#store.negotiatedTimeoutMs;
  }

  get longestTimeoutMs(): number {
    return this.#store.longestTimeoutMs;
  }

  get identities(): readonly string[] {
    return this.#store.identities;
  }

  provenAliveAtMs(): number {
    return this.#store.provenAliveAtMs();
  }

  lastsToRenewal(): boolean {
    return this.#store.lastsToRenewal();
  }

  inTouchSinceMs(): number {
    return this.#store.inTouchSinceMs();
  }

  async getData(path: string, options?: ReadOptions) {
    this.#note(path, options);
    return await this.#open.getData(path, options);
  }

  async getChildren(path: string, options?: ReadOptions) {
    this.#note(path, options);
    return await this.#open.getChildren(path, options);
  }

  async exists(path: string, options?: ReadOptions) {
    this.#note(path, options);
    return await this.#open.exists(path, options);
  }

  async create(path: string, data: Buffer, mode: CreateMode, options?: CallOptions) {
    return await this.#open.create(path, data, mode, options);
  }

  async set(path: string, data: Buffer, version: ExpectedVersion, options?: CallOptions) {
    return await this.#open.set(path, data, version, options);
  }

  async delete(path: string, version: ExpectedVersion, options?: CallOptions) {
    await this.#open.delete(path, version, options);
  }

  async getAcl(path: string, options?: CallOptions) {
    return await this.#open.getAcl(path, options);
  }

  async setAcl(...[path, acl, version, options]: Parameters<Store['setAcl']>) {
    return await this.#open.setAcl(path, acl, version, options);
  }

  async multi(operations: readonly Operation[], options?: CallOptions) {
    return await this.#open.multi(operations, options);
  }

  async sync(path: string, options?: CallOptions) {
    await this.#open.sync(path, options);
  }

  onChange(listener: (path: string) => void): () => void {
    return this.#changeListeners.add(listener);
  }

  onState(listener: (state: StoreState) => void): () => void {
    return this.#stateListeners.add(listener);
  }

  /**
   * Whether the group is waiting for a change to this path, which is outside the group. A call that returns
   * true uses up the watch.
   */
  watchesElsewhere(path: string): boolean {
    return this.#elsewhere.delete(path);
  }

  #note(path: string, options?: ReadOptions): void {
    if (options?.watch === true && !this.isBelow(path)) this.#elsewhere.add(path);
  }

  /** Reports a change in the group, or a change to a watched path outside the group. */
  changed(path: string): void {
    this.#changeListeners.notify(path);
  }

  stateIs(state: StoreState): void {
    this.#stateListeners.notify(state);
  }

  changeServer(): void {
    this.#store.changeServer();
  }

  async connected(options?: CallOptions): Promise<void> {
    await this.#open.connected(options);
  }

  close(how: CloseOptions = {}): Promise<boolean> {
    this.#left ??= this.#leave(how);
    return this.#left;
  }

  get #open(): Store {
    if (this.state === 'CLOSED') throw new StoreError('SESSION_EXPIRED', 'the group has been left');
    return this.#store;
  }
}
