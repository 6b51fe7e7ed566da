/**
 * Implements the store port on a ZooKeeper session: promises, deadlines, typed arguments and results, and one
 * change event for all watches. The store never retries. After a lost reply, the caller must find out whether
 * the request took effect.
 */

import zookeeper from 'node-zookeeper-client';
import jute from 'node-zookeeper-client/lib/jute/index.js';
import { errorMessage } from '../errors.js';
import { lastsToRenewal, provenAlive } from '../lease/lease.js';
import { inTouchSinceMs } from '../lease/touch.js';
import { Listeners } from '../listeners.js';
import { type Acl, identitiesText } from '../model/acl.js';
import type { Clock } from '../ports/clock.js';
import {
  type CallOptions,
  type CreateMode,
  type ExpectedVersion,
  type Operation,
  type OperationResult,
  type ReadOptions,
  type Stat,
  type Store,
  StoreError,
  type StoreState,
} from '../ports/store.js';
import { Failure } from './failure.js';
import { checkPath } from './path.js';
import { Session, type SessionOptions } from './session.js';
import type { Unreachable } from './unreachable.js';
import {
  aclOnWire,
  bytes,
  flags,
  settleMulti,
  toAcl,
  toStat,
  undecodable,
  versionNumber,
} from './wire-values.js';

export interface ZooKeeperStoreOptions extends Omit<SessionOptions, 'onState' | 'onChange'> {
  readonly callTimeoutMs: number;
  /**
   * Returns the ACL of a znode to be created. The path of a sequential znode does not contain its sequence
   * number yet.
   */
  acl(path: string): Acl;
}

type Resolve<T> = (value: T) => void;
type Reject = (error: Error) => void;
type Send<T> = (resolve: Resolve<T>, reject: Reject) => void;

/** Operation and path of a call, for error messages. */
interface Subject {
  readonly what: string;
  readonly path?: string;
}

const { OP_CODES: op } = jute;

/**
 * The library identifies watches by their function. Using one function everywhere gives one entry per path.
 * The event itself contains the path.
 */
const watcher = () => {};

export class ZooKeeperStore implements Store {
  readonly identities: readonly string[];
  readonly #session: Session;
  readonly #client: zookeeper.Client;
  readonly #clock: Clock;
  readonly #callTimeoutMs: number;
  readonly #aclOf: (path: string) => Acl;
  readonly #changeListeners: Listeners<string>;
  readonly #stateListeners: Listeners<StoreState>;

  constructor(options: ZooKeeperStoreOptions) {
    this.#clock = options.clock;
    this.#callTimeoutMs = options.callTimeoutMs;
    this.#aclOf = options.acl;
    this.#changeListeners = new Listeners(options.logger, 'changes in ZooKeeper');
    this.#stateListeners = new Listeners(options.logger, 'the connection to ZooKeeper');
    this.identities = options.credentials.map(
      ({ scheme, credentials }) => `${scheme}:${credentials.split(':', 1)[0]}`,
    );
    this.#session = new Session({
      ...options,
      onState: (state) => this.#stateListeners.notify(state),
      onChange: (path) => this.#changeListeners.notify(path),
    });
    this.#client = zookeeper.createClient('unused', { sessionTimeout: options.sessionTimeoutMs, retries: 0 });
    this.#client.connectionManager = this.#session;
    this.#client.connect();
  }

  get state(): StoreState {
    return this.#session.state;
  }

  get sessionId(): bigint {
    return this.#session.negotiatedTimeoutMs === 0 ? 0n : this.#session.sessionId.readBigUInt64BE();
  }

  get sessionPassword(): Buffer {
    return Buffer.from(this.#session.sessionPassword);
  }

  get unreachable(): Unreachable | null {
    return this.state === 'CONNECTING' ? this.#session.problems.unreachable : null;
  }

  get negotiatedTimeoutMs(): number {
    return this.#session.negotiatedTimeoutMs;
  }

  get longestTimeoutMs(): number {
    return this.#session.longestTimeoutMs;
  }

  provenAliveAtMs(): number {
    return provenAlive(this.#session.evidence, this.negotiatedTimeoutMs);
  }

  lastsToRenewal(): boolean {
    return lastsToRenewal(this.#session.evidence, this.#clock.monotonicMs(), this.negotiatedTimeoutMs);
  }

  inTouchSinceMs(): number {
    const { evidence, negotiatedTimeoutMs } = this.#session;
    return inTouchSinceMs(evidence.touch, this.#clock.monotonicMs(), negotiatedTimeoutMs);
  }

  getData(path: string, options: ReadOptions = {}): Promise<{ data: Buffer; stat: Stat }> {
    return this.#callOn(path, 'get the data of', options, (resolve, reject) => {
      this.#client.getData(path, watchOf(options), (error, data, stat) => {
        if (error) reject(error);
        else resolve({ data: data ?? Buffer.alloc(0), stat: toStat(stat) });
      });
    });
  }

  getChildren(path: string, options: ReadOptions = {}): Promise<{ children: string[]; stat: Stat }> {
    return this.#callOn(path, 'get the children of', options, (resolve, reject) => {
      this.#client.getChildren(path, watchOf(options), (error, children, stat) => {
        if (error) reject(error);
        else resolve({ children: children ?? [], stat: toStat(stat) });
      });
    });
  }

  exists(path: string, options: ReadOptions = {}): Promise<Stat | null> {
    return this.#callOn(path, 'look for', options, (resolve, reject) => {
      this.#client.exists(path, watchOf(options), (error, stat) => {
        if (error) reject(error);
        else resolve(stat ? toStat(stat) : null);
      });
    });
  }

  create(path: string, data: Buffer, mode: CreateMode, options: CallOptions = {}): Promise<string> {
    return this.#callOn(path, 'create', options, (resolve, reject) => {
      this.#client.create(path, bytes(data), aclOnWire(this.#aclOf(path)), flags(mode), (error, created) => {
        if (error) reject(error);
        else resolve(created);
      });
    });
  }

  set(path: string, data: Buffer, version: ExpectedVersion, options: CallOptions = {}): Promise<Stat> {
    return this.#callOn(path, 'set', options, (resolve, reject) => {
      this.#client.setData(path, bytes(data), versionNumber(version), (error, stat) => {
        if (error) reject(error);
        else resolve(toStat(stat));
      });
    });
  }

  delete(path: string, version: ExpectedVersion, options: CallOptions = {}): Promise<void> {
    return this.#callOn(path, 'delete', options, (resolve, reject) => {
      this.#client.remove(path, versionNumber(version), (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  getAcl(path: string, options: CallOptions = {}): Promise<{ acl: Acl; stat: Stat }> {
    return this.#callOn(path, 'get the ACL of', options, (resolve, reject) => {
      // Build the request here: the library's own call throws an uncatchable error for an ACL entry without
      // permissions.
      const payload = new jute.protocol.GetACLRequest(path);
      const header = new jute.protocol.RequestHeader(0, op.GET_ACL);
      this.#session.queue(new jute.Request(header, payload), (error, response) => {
        const answer = response?.payload;
        if (error) reject(error);
        else if (answer instanceof jute.protocol.GetACLResponse)
          resolve({ acl: toAcl(answer.acl), stat: toStat(answer.stat) });
        else reject(undecodable('no ACL'));
      });
    });
  }

  setAcl(path: string, acl: Acl, version: ExpectedVersion, options: CallOptions = {}): Promise<Stat> {
    return this.#callOn(path, 'set the ACL of', options, (resolve, reject) => {
      this.#client.setACL(path, aclOnWire(acl), versionNumber(version), (error, stat) => {
        if (error) reject(error);
        else resolve(toStat(stat));
      });
    });
  }

  multi(operations: readonly Operation[], options: CallOptions = {}): Promise<OperationResult[]> {
    return this.#call({ what: `multi of ${operations.length} operations` }, options, (resolve, reject) => {
      if (operations.length === 0)
        throw Failure.of('BAD_ARGUMENTS', 'a multi requires at least one operation');
      const payload = new jute.TransactionRequest(operations.map((each) => this.#onWire(each)));
      const header = new jute.protocol.RequestHeader(0, op.MULTI);
      this.#session.queue(new jute.Request(header, payload), (error, response) => {
        const answer = response?.payload;
        if (error) reject(error);
        else if (answer instanceof jute.TransactionResponse) settleMulti(operations, answer, resolve, reject);
        else reject(undecodable('no transaction response'));
      });
    });
  }

  sync(path: string, options: CallOptions = {}): Promise<void> {
    return this.#callOn(path, 'sync', options, (resolve, reject) => {
      // A sync request contains only a path, so the payload of a GetACL request has the right format.
      const payload = new jute.protocol.GetACLRequest(path);
      const header = new jute.protocol.RequestHeader(0, op.SYNC);
      this.#session.queue(new jute.Request(header, payload), (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  changeServer(): void {
    this.#session.changeServer();
  }

  onChange(listener: (path: string) => void): () => void {
    return this.#changeListeners.add(listener);
  }

  onState(listener: (state: StoreState) => void): () => void {
    return this.#stateListeners.add(listener);
  }

  async connected(options: CallOptions = {}): Promise<void> {
    const { timeoutMs = Number.POSITIVE_INFINITY } = options;
    let unlisten = () => {};
    try {
      await this.#call<void>(
        { what: 'connect to ZooKeeper' },
        { ...options, timeoutMs },
        (resolve, reject) => {
          const look = (state: StoreState) => {
            if (state === 'CONNECTED') resolve();
            if (state === 'LOST' || state === 'CLOSED') reject(this.#session.refusal);
          };
          unlisten = this.onState(look);
          look(this.state);
        },
      );
    } finally {
      unlisten();
    }
  }

  close(options: { timeoutMs?: number; abandon?: boolean } = {}): Promise<boolean> {
    return this.#session.endSession(options.timeoutMs ?? this.#callTimeoutMs, options.abandon ?? false);
  }

  #callOn<T>(path: string, verb: string, options: CallOptions, send: Send<T>): Promise<T> {
    return this.#call({ what: `${verb} ${path}`, path }, options, (resolve, reject) => {
      checkPath(path);
      send(resolve, reject);
    });
  }

  /**
   * Settles when the answer arrives, the deadline passes or the abort signal fires, whichever comes first.
   * Calls `send` synchronously.
   */
  #call<T>(subject: Subject, options: CallOptions, send: Send<T>): Promise<T> {
    const { signal, timeoutMs = this.#callTimeoutMs } = options;
    return new Promise<T>((resolve, reject) => {
      let release = () => {};
      const fail = (error: unknown) => {
        release();
        reject(this.#withIdentity(toStoreError(error, subject)));
      };
      const abort = () =>
        fail(new StoreError('ABORTED', 'cancelled by the caller', { cause: signal?.reason }));
      if (signal?.aborted) return abort();
      const late = () => fail(this.#lateness(timeoutMs));
      const cancel = timeoutMs === Number.POSITIVE_INFINITY ? () => {} : this.#clock.timer(timeoutMs, late);
      release = () => {
        cancel();
        signal?.removeEventListener('abort', abort);
      };
      signal?.addEventListener('abort', abort);
      const settle = (value: T) => {
        release();
        resolve(value);
      };
      try {
        send(settle, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  /** Adds the refused identity, without its password, to the message. */
  #withIdentity(error: StoreError): StoreError {
    if (error.code !== 'NO_AUTH') return error;
    const { path, failedOp, verb, cause } = error;
    return new StoreError(error.code, `${error.message}, as ${identitiesText(this.identities)}`, {
      path,
      failedOp,
      verb,
      identities: this.identities,
      cause,
    });
  }

  #lateness(timeoutMs: number): StoreError {
    if (this.state === 'CONNECTING') {
      const { text, unreachable: cause } = this.#session.problems;
      return new StoreError('TIMEOUT', `no connection within ${timeoutMs} ms: ${text}`, { cause });
    }
    const why = this.state === 'CONNECTED' ? '' : `: ${this.#session.refusal.message}`;
    return new StoreError('TIMEOUT', `no response within ${timeoutMs} ms${why}`);
  }

  #onWire(operation: Operation): jute.TransactionOperation {
    const { type, path } = operation;
    const isSequential = type === 'create' && operation.mode.endsWith('-sequential');
    // ZooKeeper appends the sequence number to the path of a sequential znode before it checks the path. A
    // prefix such as `/queue/` may therefore end in a slash.
    checkPath(isSequential ? `${path}0` : path);
    switch (type) {
      case 'create':
        return {
          type: op.CREATE,
          path,
          data: bytes(operation.data),
          acls: aclOnWire(this.#aclOf(path)),
          mode: flags(operation.mode),
        };
      case 'set':
        return {
          type: op.SET_DATA,
          path,
          data: bytes(operation.data),
          version: versionNumber(operation.version),
        };
      case 'delete':
        return { type: op.DELETE, path, version: versionNumber(operation.version) };
      case 'check':
        return { type: op.CHECK, path, version: versionNumber(operation.version) };
      default:
        throw Failure.of('BAD_ARGUMENTS', `unknown type of operation "${String(type)}"`);
    }
  }
}

function watchOf(options: ReadOptions): zookeeper.Watcher | undefined {
  return options.watch ? watcher : undefined;
}

function toStoreError(error: unknown, { what, path }: Subject): StoreError {
  const message = `${what}: ${errorMessage(error)}`;
  if (error instanceof StoreError) {
    const { code, failedOp, verb, cause } = error;
    return new StoreError(code, message, { path: error.path ?? path, failedOp, verb, cause });
  }
  if (error instanceof Failure) return new StoreError(error.storeCode, message, { path, cause: error.cause });
  return new StoreError('BAD_ARGUMENTS', message, { path, cause: error });
}
