/**
 * The coordination store that Petrel needs: ZooKeeper's own model (znodes, versions, sessions, one-shot
 * watches, multi) with types. Implemented over the network by `src/zookeeper`.
 *
 * Promised: one store is one session. Calls are sent and answered in the order in which they are made. A
 * settled call is settled once. Nothing that a listener throws reaches the connection. Not promised: a call
 * that failed with CONNECTION_LOSS, SESSION_EXPIRED, TIMEOUT or ABORTED has an *unknown* outcome. It may have
 * been applied, or may still be.
 */

import type { Acl } from '../model/acl.js';

/**
 * CONNECTING: no session yet. SUSPENDED: had a session and is disconnected, but the session may still exist.
 * LOST (the session is over, terminal) and CLOSED (closed by us, terminal): this store will never work again.
 */
export type StoreState = 'CONNECTING' | 'CONNECTED' | 'SUSPENDED' | 'LOST' | 'CLOSED';

/**
 * ZooKeeper's own names of its error codes, without the KeeperException decoration, and two of ours: TIMEOUT
 * (the call's own deadline passed) and ABORTED (its signal fired).
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
  readonly cause?: unknown;
}

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** The path, without the chroot, if the error concerns one. */
  readonly path: string | undefined;
  /** In a failed multi: index of the operation that made it fail. */
  readonly failedOp: number | undefined;
  /** Type of that operation. */
  readonly verb: Operation['type'] | undefined;

  constructor(code: StoreErrorCode, message: string, options: StoreErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.path = options.path;
    this.failedOp = options.failedOp;
    this.verb = options.verb;
  }

  /** Whether the call may have been applied, or may still be. */
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

/** Whether ZooKeeper refused for lack of permission or rejected the credentials. */
export function isPermissionError(
  error: unknown,
): error is StoreError & { readonly code: (typeof permissionCodes)[number] } {
  return isStoreError(error, ...permissionCodes);
}

export interface Stat {
  /** zxid of the change that created the znode. For `leader/current`, this is Petrel's fencing token. */
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly pzxid: bigint;
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** Session that owns an ephemeral znode. 0n for a persistent one. */
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
}

export type CreateMode = 'persistent' | 'persistent-sequential' | 'ephemeral' | 'ephemeral-sequential';

/** A required znode version, or `any`. Version 0 means 0. */
export type ExpectedVersion = number | 'any';

export type Operation =
  | { readonly type: 'create'; readonly path: string; readonly data: Buffer; readonly mode: CreateMode }
  | { readonly type: 'set'; readonly path: string; readonly data: Buffer; readonly version: ExpectedVersion }
  | { readonly type: 'delete'; readonly path: string; readonly version: ExpectedVersion }
  | { readonly type: 'check'; readonly path: string; readonly version: ExpectedVersion };

/** One result per operation, in order. */
export type OperationResult =
  | { readonly type: 'create'; readonly path: string }
  | { readonly type: 'set'; readonly stat: Stat }
  | { readonly type: 'delete' }
  | { readonly type: 'check' };

export interface CallOptions {
  /** Stops waiting this many milliseconds from now, with TIMEOUT. Default: the store's own call timeout. */
  readonly timeoutMs?: number;
  /** Stops waiting with ABORTED. */
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions {
  /**
   * Whether to leave a one-shot watch: `onChange` listeners are notified of the next change of what was read.
   */
  readonly watch?: boolean;
}

export interface Store {
  readonly state: StoreState;
  /** 0n before the first connection. */
  readonly sessionId: bigint;
  /** The session's password. A client that knows id and password can end the session. A secret. */
  readonly sessionPassword: Buffer;
  /**
   * The smallest timeout that any server granted to this session. It may differ from the requested one. 0
   * before the first connection.
   */
  readonly negotiatedTimeoutMs: number;
  /** Names of the identities behind its credentials, without passwords: `digest:petrel`. */
  readonly identities: readonly string[];

  /**
   * Returns the monotonic instant of the newest sign of life that the *ensemble* is proven to have processed
   * (`core/lease.ts` has the rule), or -Infinity. The session cannot have expired before this instant plus
   * the negotiated timeout.
   */
  provenAliveAtMs(): number;
  /** Whether a lease that began with a write sent now would last until its renewal. */
  lastsToRenewal(): boolean;
  /**
   * Returns the monotonic instant since which servers have answered without a break (`core/touch.ts`). It is
   * not in the past while they do not answer.
   */
  inTouchSinceMs(): number;

  getData(path: string, options?: ReadOptions): Promise<{ data: Buffer; stat: Stat }>;
  /** Returns the names of the children, not their paths, in no particular order. */
  getChildren(path: string, options?: ReadOptions): Promise<{ children: string[]; stat: Stat }>;
  /** Returns null if there is no such znode. A watch then reports its creation. */
  exists(path: string, options?: ReadOptions): Promise<Stat | null>;
  /** Returns the created path, with its sequence if the mode has one. */
  create(path: string, data: Buffer, mode: CreateMode, options?: CallOptions): Promise<string>;
  set(path: string, data: Buffer, version: ExpectedVersion, options?: CallOptions): Promise<Stat>;
  delete(path: string, version: ExpectedVersion, options?: CallOptions): Promise<void>;
  /** Reads the ACL. Its digests are hidden from clients that may not administer the znode. */
  getAcl(path: string, options?: CallOptions): Promise<{ acl: Acl; stat: Stat }>;
  /** `version` is the ACL's own (`Stat.aversion`). */
  setAcl(path: string, acl: Acl, version: ExpectedVersion, options?: CallOptions): Promise<Stat>;
  /**
   * Applies all operations or none. A multi of checks alone is a committed write that changes nothing and
   * triggers no watch.
   */
  multi(operations: readonly Operation[], options?: CallOptions): Promise<OperationResult[]>;
  /** Flushes the channel to the ensemble's leader: a later read sees everything that was committed before. */
  sync(path: string, options?: CallOptions): Promise<void>;

  /** `path` is the watched path. Use it only for logs: listeners read again and do not interpret it. */
  onChange(listener: (path: string) => void): () => void;
  onState(listener: (state: StoreState) => void): () => void;

  /**
   * Changes from the connected server to the next one. The session continues. For callers with reason to
   * doubt that server.
   */
  changeServer(): void;

  /**
   * Resolves when the first connection is established. Rejects if the store is LOST or CLOSED, or if the
   * signal fires.
   */
  connected(options?: CallOptions): Promise<void>;
  /**
   * Ends the session at the ensemble if it can be reached within `timeoutMs`, and always frees every socket
   * and timer. `abandon`: leaves the session, and what it owns, to expire. Returns true if the ensemble
   * confirmed the end. Never rejects, and may be called at any time.
   */
  close(options?: { timeoutMs?: number; abandon?: boolean }): Promise<boolean>;
}
