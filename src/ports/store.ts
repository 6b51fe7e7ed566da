/**
 * The coordination store that Petrel needs. It is ZooKeeper's own model (znodes, versions, sessions, one-shot
 * watches, multi) with types. `src/zookeeper` implements it over the network.
 *
 * Promised: one store is one session. Calls are sent and answered in the order in which they are made. Each
 * call settles exactly once. An exception in a listener never reaches the connection.
 *
 * Not promised: that the outcome of a call is known. A call that failed with CONNECTION_LOSS,
 * SESSION_EXPIRED, TIMEOUT or ABORTED may have been applied, or may still be applied later.
 */

import type { Acl } from '../model/acl.js';

/**
 * State of a store:
 * - CONNECTING: there is no session yet.
 * - SUSPENDED: there was a session and the store is disconnected, but the session may still exist.
 * - LOST: the session is over. This state is terminal.
 * - CLOSED: this client has closed the store. This state is terminal.
 *
 * A store in a terminal state will never work again.
 */
export type StoreState = 'CONNECTING' | 'CONNECTED' | 'SUSPENDED' | 'LOST' | 'CLOSED';

/**
 * ZooKeeper's own names for its error codes, without the KeeperException decoration. Petrel adds two codes:
 * TIMEOUT (the call's own deadline passed) and ABORTED (the call's signal fired).
 */
export type StoreErrorCode =
  | 'SYSTEM_ERROR'
  | 'RUNTIME_INCONSISTENCY'
  | 'DATA_INCONSISTENCY'
  | 'CONNECTION_LOSS'
  | 'MARSHALLING_ERROR'
  | 'UNIMPLEMENTED'
  | 'OPERATION_TIMEOUT'
  | 'BAD_ARGUMENTS'
  | 'NEW_CONFIG_NO_QUORUM'
  | 'RECONFIG_IN_PROGRESS'
  | 'UNKNOWN_SESSION'
  | 'API_ERROR'
  | 'NO_NODE'
  | 'NO_AUTH'
  | 'BAD_VERSION'
  | 'NO_CHILDREN_FOR_EPHEMERALS'
  | 'NODE_EXISTS'
  | 'NOT_EMPTY'
  | 'SESSION_EXPIRED'
  | 'INVALID_CALLBACK'
  | 'INVALID_ACL'
  | 'AUTH_FAILED'
  | 'SESSION_MOVED'
  | 'NOT_READ_ONLY'
  | 'EPHEMERAL_ON_LOCAL_SESSION'
  | 'NO_WATCHER'
  | 'REQUEST_TIMEOUT'
  | 'RECONFIG_DISABLED'
  | 'SESSION_CLOSED_REQUIRE_SASL_AUTH'
  | 'QUOTA_EXCEEDED'
  | 'THROTTLED'
  | 'UNKNOWN'
  | 'TIMEOUT'
  | 'ABORTED';

/** Codes after which it is unknown whether a write was applied. */
const unknownOutcome: ReadonlySet<StoreErrorCode> = new Set([
  'CONNECTION_LOSS',
  'SESSION_EXPIRED',
  'SESSION_MOVED',
  'OPERATION_TIMEOUT',
  'REQUEST_TIMEOUT',
  'TIMEOUT',
  'ABORTED',
]);

interface StoreErrorOptions {
  readonly path?: string | undefined;
  readonly failedOp?: number | undefined;
  readonly verb?: Operation['type'] | undefined;
  readonly identities?: readonly string[] | undefined;
  readonly cause?: unknown;
}

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** The path that the error concerns, without the chroot. Undefined if the error concerns no path. */
  readonly path: string | undefined;
  /** In a failed multi, the index of the operation that made it fail. */
  readonly failedOp: number | undefined;
  /** In a failed multi, the type of the operation that made it fail. */
  readonly verb: Operation['type'] | undefined;
  /** Names of the proven identities that were denied permission. Empty for a client without credentials. */
  readonly identities: readonly string[];

  constructor(code: StoreErrorCode, message: string, options: StoreErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.path = options.path;
    this.failedOp = options.failedOp;
    this.verb = options.verb;
    this.identities = options.identities ?? [];
  }

  /** Whether the call may have been applied, or may still be applied later. */
  get outcomeUnknown(): boolean {
    return unknownOutcome.has(this.code);
  }
}

export function isStoreError<Code extends StoreErrorCode = StoreErrorCode>(
  error: unknown,
  ...codes: Code[]
): error is StoreError & { readonly code: Code } {
  return error instanceof StoreError && (codes.length === 0 || codes.some((code) => code === error.code));
}

const permissionCodes = [
  'NO_AUTH',
  'AUTH_FAILED',
  'INVALID_ACL',
  'SESSION_CLOSED_REQUIRE_SASL_AUTH',
] as const;

/** Whether ZooKeeper denied permission or rejected the credentials. */
export function isPermissionError(
  error: unknown,
): error is StoreError & { readonly code: (typeof permissionCodes)[number] } {
  return isStoreError(error, ...permissionCodes);
}

export interface Stat {
  /** The zxid of the change that created the znode. For `leader/current`, this is Petrel's fencing token. */
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly pzxid: bigint;
  /** Time of creation on the ensemble's clock, in milliseconds since the epoch. */
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** Session that owns an ephemeral znode. 0n for a persistent znode. */
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
}

export type CreateMode = 'persistent' | 'persistent-sequential' | 'ephemeral' | 'ephemeral-sequential';

/** A required znode version, or `any` for no requirement. The number 0 means version 0. */
export type ExpectedVersion = number | 'any';

export type Operation =
  | { readonly type: 'create'; readonly path: string; readonly data: Buffer; readonly mode: CreateMode }
  | { readonly type: 'set'; readonly path: string; readonly data: Buffer; readonly version: ExpectedVersion }
  | { readonly type: 'delete'; readonly path: string; readonly version: ExpectedVersion }
  | { readonly type: 'check'; readonly path: string; readonly version: ExpectedVersion };

/** The result of one operation. A multi returns one result per operation, in order. */
export type OperationResult =
  | { readonly type: 'create'; readonly path: string }
  | { readonly type: 'set'; readonly stat: Stat }
  | { readonly type: 'delete' }
  | { readonly type: 'check' };

export interface CallOptions {
  /**
   * Time after which the caller stops waiting, in milliseconds. The call then fails with TIMEOUT. Default:
   * the store's own call timeout.
   */
  readonly timeoutMs?: number;
  /** Signal that makes the caller stop waiting. The call then fails with ABORTED. */
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions {
  /**
   * Whether to set a one-shot watch. `onChange` listeners are notified of the next change to the data that
   * was read.
   */
  readonly watch?: boolean;
}

export interface Store {
  readonly state: StoreState;
  /** Id of the session. 0n before the first connection. */
  readonly sessionId: bigint;
  /**
   * The session's password, which is a secret. A client that knows the id and the password can end the
   * session.
   */
  readonly sessionPassword: Buffer;
  /**
   * The smallest timeout that any server has granted to this session. It may differ from the requested
   * timeout. 0 before the first connection.
   */
  readonly negotiatedTimeoutMs: number;
  /**
   * The greatest timeout that any server has granted to this session. If contact is lost, the session may
   * last this long. 0 before the first connection.
   */
  readonly longestTimeoutMs: number;
  /**
   * Names of the identities that the session's credentials prove, without passwords. Example:
   * `digest:petrel`.
   */
  readonly identities: readonly string[];
  /** Why no server has been reached yet. Null once there has been a connection. */
  readonly unreachable: Error | null;

  /**
   * Returns the monotonic instant of the newest heartbeat that the *ensemble* is proven to have processed.
   * Returns -Infinity if there is none. `lease/lease.ts` describes the rule. The session cannot have expired
   * before this instant plus the negotiated timeout. While the timeout is in doubt, only a lease that starts
   * at this instant is safe.
   */
  provenAliveAtMs(): number;
  /** Whether a lease that begins with a write sent now would last until its renewal. */
  lastsToRenewal(): boolean;
  /**
   * Returns the monotonic instant at which the current unbroken contact with the servers began.
   * `lease/touch.ts` describes when contact is broken. While contact is broken, the result is not in the
   * past.
   */
  inTouchSinceMs(): number;

  getData(path: string, options?: ReadOptions): Promise<{ data: Buffer; stat: Stat }>;
  /** Returns the names of the children in no particular order. A name is not a path. */
  getChildren(path: string, options?: ReadOptions): Promise<{ children: string[]; stat: Stat }>;
  /**
   * Returns the znode's stat. Returns null if there is no such znode. In that case, a watch reports the
   * znode's creation.
   */
  exists(path: string, options?: ReadOptions): Promise<Stat | null>;
  /** Creates a znode and returns its path. The path includes the sequence number if the mode adds one. */
  create(path: string, data: Buffer, mode: CreateMode, options?: CallOptions): Promise<string>;
  set(path: string, data: Buffer, version: ExpectedVersion, options?: CallOptions): Promise<Stat>;
  delete(path: string, version: ExpectedVersion, options?: CallOptions): Promise<void>;
  /** Reads the ACL. ZooKeeper hides the digests from clients without permission to administer the znode. */
  getAcl(path: string, options?: CallOptions): Promise<{ acl: Acl; stat: Stat }>;
  /** Sets the ACL. `version` is the version of the ACL itself (`Stat.aversion`). */
  setAcl(path: string, acl: Acl, version: ExpectedVersion, options?: CallOptions): Promise<Stat>;
  /**
   * Applies all operations or none. A multi that consists only of checks is still a committed write, but it
   * changes nothing and triggers no watch.
   */
  multi(operations: readonly Operation[], options?: CallOptions): Promise<OperationResult[]>;
  /**
   * Flushes the channel to the ensemble's leader. A later read sees everything that was committed before this
   * call.
   */
  sync(path: string, options?: CallOptions): Promise<void>;

  /**
   * Subscribes to changes. `path` is the watched path, which is only for logs: listeners read the data again
   * and do not interpret the path. The returned function unsubscribes.
   */
  onChange(listener: (path: string) => void): () => void;
  onState(listener: (state: StoreState) => void): () => void;

  /**
   * Switches to the next server. This is for callers that have reason to doubt the connected server. The
   * session continues.
   */
  changeServer(): void;

  /**
   * Resolves when the store is connected. Has no timeout by default. Rejects if the store is LOST or CLOSED,
   * or if the signal fires.
   */
  connected(options?: CallOptions): Promise<void>;
  /**
   * Ends the session at the ensemble if the ensemble can be reached within `timeoutMs`. Always frees every
   * socket and timer. With `abandon`, leaves the session and its znodes to expire. Returns true if the
   * ensemble confirmed the end of the session. Never rejects, and may be called at any time.
   */
  close(options?: { timeoutMs?: number; abandon?: boolean }): Promise<boolean>;
}
