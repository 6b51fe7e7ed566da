/**
 * The coordination store as Petrel needs it: ZooKeeper's own model (znodes, versions, sessions, one-shot
 * watches, multi), typed. Implemented by `src/zookeeper` over the network.
 *
 * What is promised: one store is one session; calls are sent, and answered, in the order they are made; a
 * settled call is settled once; nothing thrown by a listener reaches the connection.
 * What is not: a call that failed with CONNECTION_LOSS, SESSION_EXPIRED, TIMEOUT or ABORTED has an *unknown*
 * outcome. It may have been applied, or may still be.
 */

import type { Acl } from '../model/acl.js';

/** CONNECTING: no session yet. SUSPENDED: had a session, is out of touch, and it may still live. LOST (the
 * session is over, terminal) and CLOSED (closed by us, terminal): this store will never work again. */
export type StoreState = 'CONNECTING' | 'CONNECTED' | 'SUSPENDED' | 'LOST' | 'CLOSED';

/** ZooKeeper's own names of its error codes, without the KeeperException decoration, and two of ours:
 * TIMEOUT (the call's own deadline passed) and ABORTED (its signal fired). */
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

/** Codes after which nobody knows whether a write was applied. */
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
  /** The path, without the chroot, when the error concerns one. */
  readonly path: string | undefined;
  /** In a failed multi: index of the operation that made it fail. */
  readonly failedOp: number | undefined;
  /** What that operation was to do. */
  readonly verb: Operation['type'] | undefined;

  constructor(code: StoreErrorCode, message: string, options: StoreErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.path = options.path;
    this.failedOp = options.failedOp;
    this.verb = options.verb;
  }

  /** True when the call may have been applied, or may still be. */
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

/** ZooKeeper refused for lack of permission, or did not take the credentials. */
export function isPermissionError(
  error: unknown,
): error is StoreError & { readonly code: (typeof permissionCodes)[number] } {
  return isStoreError(error, ...permissionCodes);
}

export interface Stat {
  /** zxid of the change that created the znode; Petrel's fencing token when the znode is `leader/current`. */
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly pzxid: bigint;
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** Session that owns an ephemeral znode, 0n for a persistent one. */
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
}

export type CreateMode = 'persistent' | 'persistent-sequential' | 'ephemeral' | 'ephemeral-sequential';

/** A znode version to insist on, or `any`. Version 0 means 0. */
export type ExpectedVersion = number | 'any';

export type Operation =
  | { readonly type: 'create'; readonly path: string; readonly data: Buffer; readonly mode: CreateMode }
  | { readonly type: 'set'; readonly path: string; readonly data: Buffer; readonly version: ExpectedVersion }
  | { readonly type: 'delete'; readonly path: string; readonly version: ExpectedVersion }
  | { readonly type: 'check'; readonly path: string; readonly version: ExpectedVersion };

/** One result an operation, in order. */
export type OperationResult =
  | { readonly type: 'create'; readonly path: string }
  | { readonly type: 'set'; readonly stat: Stat }
  | { readonly type: 'delete' }
  | { readonly type: 'check' };

export interface CallOptions {
  /**
   * Gives up waiting this many milliseconds from now, with TIMEOUT. Default: the store's own call timeout.
   */
  readonly timeoutMs?: number;
  /** Gives up waiting with ABORTED. */
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions {
  /** Leave a one-shot watch: `onChange` listeners hear of the next change of what was read. */
  readonly watch?: boolean;
}

export interface Store {
  readonly state: StoreState;
  /** 0n before the first connection. */
  readonly sessionId: bigint;
  /** The session's password: who knows id and password can end the session. A secret. */
  readonly sessionPassword: Buffer;
  /**
   * The smallest timeout that any server granted to this session, which may differ from the requested one; 0
   * before the first connection.
   */
  readonly negotiatedTimeoutMs: number;
  /** Names of whom its credentials stand for, without passwords: `digest:petrel`. */
  readonly identities: readonly string[];

  /**
   * Monotonic instant of the newest sign of life that the *ensemble* is proven to have taken into account
   * (`core/lease.ts` has the rule), or -Infinity. The session cannot have expired before this instant plus
   * the negotiated timeout.
   */
  provenAliveAtMs(): number;
  /** Whether a lease that began with a write sent now would last until its renewal. */
  lastsToRenewal(): boolean;
  /**
   * Monotonic instant since which servers have answered without a break (`core/touch.ts`); not in the past
   * while they do not.
   */
  inTouchSinceMs(): number;

  getData(path: string, options?: ReadOptions): Promise<{ data: Buffer; stat: Stat }>;
  /** Names of the children, not paths, in no particular order. */
  getChildren(path: string, options?: ReadOptions): Promise<{ children: string[]; stat: Stat }>;
  /** Null when there is no such znode; a watch left then hears of its creation. */
  exists(path: string, options?: ReadOptions): Promise<Stat | null>;
  /** The path created, with its sequence when the mode has one. */
  create(path: string, data: Buffer, mode: CreateMode, options?: CallOptions): Promise<string>;
  set(path: string, data: Buffer, version: ExpectedVersion, options?: CallOptions): Promise<Stat>;
  delete(path: string, version: ExpectedVersion, options?: CallOptions): Promise<void>;
  /** Digests in it are hidden from who may not administer the znode. */
  getAcl(path: string, options?: CallOptions): Promise<{ acl: Acl; stat: Stat }>;
  /** `version` is the ACL's own (`Stat.aversion`). */
  setAcl(path: string, acl: Acl, version: ExpectedVersion, options?: CallOptions): Promise<Stat>;
  /** All or nothing. A multi of checks alone is a committed write that changes nothing and wakes nobody. */
  multi(operations: readonly Operation[], options?: CallOptions): Promise<OperationResult[]>;
  /** Flushes the channel to the ensemble's leader: a later read sees all that was committed before. */
  sync(path: string, options?: CallOptions): Promise<void>;

  /** `path` is what was watched; only for logs: listeners look again, they do not interpret. */
  onChange(listener: (path: string) => void): () => void;
  onState(listener: (state: StoreState) => void): () => void;

  /**
   * Leaves the server that it is connected to for the next one; the session goes on. For whoever has reason
   * to doubt that server.
   */
  changeServer(): void;

  /**
   * Resolves when the first connection stands. Rejects when the store is LOST or CLOSED, or on the signal.
   */
  connected(options?: CallOptions): Promise<void>;
  /**
   * Ends the session at the ensemble if it can be reached within `timeoutMs`, and always lets go of every
   * socket and timer. `abandon`: leaves the session, and what it owns, to expire by itself. True when the
   * ensemble confirmed the end. Never rejects; may be called at any time.
   */
  close(options?: { timeoutMs?: number; abandon?: boolean }): Promise<boolean>;
}
