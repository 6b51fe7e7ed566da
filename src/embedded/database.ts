/**
 * ZooKeeper's complete state machine: tree, sessions and watches. It is synchronous and deterministic. Every
 * call receives the time, and returns the messages for each client. Because it has no sockets and no timers,
 * it can run in real time in the development server and in virtual time in a simulation.
 */

import type { Acl, Identity } from '../model/acl.js';
import { redactedAcl } from './acl.js';
import type { Commit } from './commit.js';
import { ZooKeeperError } from './errors.js';
import { type Session, type SessionLimits, type SessionOptions, SessionTable } from './sessions.js';
import {
  type Author,
  type Change,
  type Operation,
  type Outcome,
  type Stat,
  type TreeOptions,
  ZnodeTree,
} from './tree.js';
import { type Notification, type WatchKind, type WatchMode, WatchTable } from './watches.js';

export interface DatabaseOptions extends SessionOptions, TreeOptions {
  /** Called for every transaction that changed something. The call happens before any client is notified. */
  readonly committed?: (commit: Commit) => void;
}

/** One connection of a client: the author of its requests, and the receiver of its watch events. */
export interface Client extends Author {
  /** Number of the connection. Numbers are never reused. */
  readonly watcher: number;
}

/** Watches that a client had before it lost its connection. */
export interface FormerWatches {
  /** The newest zxid that the client has seen. The client is notified immediately of any later changes. */
  readonly seenZxid: bigint;
  readonly data: readonly string[];
  readonly exist: readonly string[];
  readonly children: readonly string[];
  readonly persistent: readonly string[];
  readonly recursive: readonly string[];
}

export class Database {
  readonly #tree: ZnodeTree;
  readonly #sessions: SessionTable;
  readonly #watches = new WatchTable();
  /** Limits on session timeouts, as set in the options. */
  readonly timing: SessionLimits;
  readonly #committed: ((commit: Commit) => void) | undefined;

  constructor(options: DatabaseOptions) {
    this.#tree = new ZnodeTree(options);
    this.#sessions = new SessionTable(options);
    this.timing = options;
    this.#committed = options.committed;
  }

  get lastZxid(): bigint {
    return this.#tree.lastZxid;
  }

  get counts(): { znodes: number; ephemerals: number; watches: number; sessions: number; dataBytes: number } {
    return {
      znodes: this.#tree.size,
      ephemerals: this.#tree.ephemeralCount,
      watches: this.#watches.count,
      sessions: this.#sessions.ids.length,
      dataBytes: this.#tree.dataBytes,
    };
  }

  openSession(timeoutMs: number, nowMs: number): Session {
    this.#tree.advance();
    return this.#sessions.open(timeoutMs, nowMs);
  }

  resumeSession(id: bigint, password: Buffer, timeoutMs: number, nowMs: number): Session | undefined {
    return this.#sessions.resume(id, password, timeoutMs, nowMs);
  }

  touchSession(id: bigint, nowMs: number): boolean {
    return this.#sessions.touch(id, nowMs);
  }

  /**
   * Restarts the timeout of every session, as a server does when it starts with existing data. While the
   * server was stopped, no client could reach it.
   */
  touchAllSessions(nowMs: number): void {
    this.#sessions.takeOver(nowMs);
  }

  /** Gives every session `byMs` more time, because the server itself was paused and read no messages. */
  postponeExpiry(byMs: number): void {
    this.#sessions.postpone(byMs);
  }

  /** Returns the timeout of a session in milliseconds, or undefined if the session has ended. */
  timeoutOf(id: bigint): number | undefined {
    return this.#sessions.timeoutOf(id);
  }

  /** Ends a session and deletes its ephemeral znodes. Returns undefined if there is no such session. */
  endSession(id: bigint, nowMs: number, how: 'closed' | 'expired' = 'expired'): Notification[] | undefined {
    if (!this.#sessions.end(id)) return undefined;
    const changes = this.#tree.removeOwnedBy(id, nowMs);
    this.#committed?.({
      sessionId: id,
      operations: changes.map(({ path }) => ({ type: 'delete', path, data: null })),
      zxid: this.lastZxid,
      endsSession: how,
    });
    return this.#fire(changes);
  }

  overdueSessions(nowMs: number): bigint[] {
    return this.#sessions.overdue(nowMs);
  }

  /** Applies one transaction of one or more operations: all of them, or none. */
  transact(
    operations: readonly Operation[],
    client: Client,
    nowMs: number,
  ): { outcome: Outcome; notifications: Notification[] } {
    this.#requireSession(client);
    const outcome = this.#tree.apply(operations, client, nowMs);
    if (!outcome.ok) return { outcome, notifications: [] };
    this.#committed?.({
      sessionId: client.sessionId,
      operations: operations.map((operation, index) => ({
        type: operation.type,
        path: outcome.results[index]?.path ?? operation.path,
        data: 'data' in operation ? operation.data : null,
      })),
      zxid: this.lastZxid,
      endsSession: null,
    });
    return { outcome, notifications: this.#fire(outcome.changes) };
  }

  /**
   * Returns the znode's stat. If `watch` is true, sets a watch even if the znode does not exist. Requires no
   * permission, as in ZooKeeper before 3.8.4 and 3.9.2.
   */
  exists(path: string, client: Client, watch: boolean): Stat {
    this.#requireSession(client);
    if (path.includes('\0')) throw new ZooKeeperError('BAD_ARGUMENTS', path);
    if (watch) this.#watches.add('data', path, client.watcher);
    const stat = this.#tree.stat(path);
    if (!stat) throw new ZooKeeperError('NO_NODE', path);
    return stat;
  }

  getData(path: string, client: Client, watch: boolean): { data: Buffer | null; stat: Stat } {
    this.#requireSession(client);
    const answer = this.#tree.getData(path, client.identities);
    if (watch) this.#watches.add('data', path, client.watcher);
    return answer;
  }

  getChildren(path: string, client: Client, watch: boolean): { children: string[]; stat: Stat } {
    this.#requireSession(client);
    const answer = this.#tree.getChildren(path, client.identities);
    if (watch) this.#watches.add('children', path, client.watcher);
    return answer;
  }

  countDescendants(path: string, client: Client): number {
    this.#requireSession(client);
    return this.#tree.countDescendants(path, client.identities);
  }

  getAcl(path: string, client: Client): { acl: Acl; stat: Stat } {
    this.#requireSession(client);
    const { acl, stat, full } = this.#tree.getAcl(path, client.identities);
    return { acl: full ? acl : redactedAcl(acl), stat };
  }

  ephemeralsOf(client: Client, prefix: string): string[] {
    this.#requireSession(client);
    return this.#tree.ephemeralsOf(client.sessionId).filter((path) => path.startsWith(prefix.trim()));
  }

  identities(client: Client): readonly Identity[] {
    this.#requireSession(client);
    return client.identities;
  }

  addWatch(path: string, client: Client, mode: WatchMode): void {
    this.#requireSession(client);
    this.#watches.add('data', path, client.watcher, mode);
    this.#watches.add('children', path, client.watcher, mode);
  }

  checkWatch(kind: WatchKind | 'any', path: string, client: Client): void {
    this.#requireSession(client);
    if (!this.#watches.has(kind, path, client.watcher)) throw new ZooKeeperError('NO_WATCHER', path);
  }

  removeWatch(kind: WatchKind | 'any', path: string, client: Client): void {
    this.#requireSession(client);
    if (!this.#watches.remove(kind, path, client.watcher)) throw new ZooKeeperError('NO_WATCHER', path);
  }

  /** Restores a reconnected client's watches. Returns the notifications that the client missed. */
  restoreWatches(former: FormerWatches, client: Client): Notification[] {
    this.#requireSession(client);
    const { watcher } = client;
    const missed: Notification[] = [];
    const restore = (kind: WatchKind, path: string, type: Notification['type'] | undefined) => {
      if (type) missed.push({ watcher, type, path });
      else this.#watches.add(kind, path, watcher);
    };
    for (const path of former.data) restore('data', path, this.#missed(path, 'mzxid', former.seenZxid));
    for (const path of former.exist) restore('data', path, this.#tree.stat(path) && 'created');
    for (const path of former.children)
      restore('children', path, this.#missed(path, 'pzxid', former.seenZxid));
    for (const path of former.persistent) this.addWatch(path, client, 'persistent');
    for (const path of former.recursive) this.addWatch(path, client, 'recursive');
    return missed;
  }

  /** Removes a connection and its watches. The session of the connection continues. */
  disconnect(watcher: number): void {
    this.#watches.removeWatcher(watcher);
  }

  /** Sets the sequence number of the next sequential znode under `path` to `next`. */
  setNextSequence(path: string, next: number): void {
    this.#tree.setNextSequence(path, next);
  }

  #missed(path: string, zxid: 'mzxid' | 'pzxid', since: bigint): Notification['type'] | undefined {
    const stat = this.#tree.stat(path);
    if (!stat) return 'deleted';
    if (stat[zxid] <= since) return undefined;
    return zxid === 'mzxid' ? 'dataChanged' : 'childrenChanged';
  }

  #fire(changes: readonly Change[]): Notification[] {
    return changes.flatMap((change) => this.#watches.fire(change));
  }

  #requireSession(client: Client): void {
    if (!this.#sessions.has(client.sessionId))
      throw new ZooKeeperError('SESSION_EXPIRED', 'the session is over');
  }
}
