/**
 * ZooKeeper's numeric error codes, including codes newer than the client library. `Failure` is the error that
 * carries a code.
 */
import type { StoreErrorCode } from '../ports/store.js';

const names: ReadonlyMap<number, StoreErrorCode> = new Map<number, StoreErrorCode>([
  [-1, 'SYSTEM_ERROR'],
  [-2, 'RUNTIME_INCONSISTENCY'],
  [-3, 'DATA_INCONSISTENCY'],
  [-4, 'CONNECTION_LOSS'],
  [-5, 'MARSHALLING_ERROR'],
  [-6, 'UNIMPLEMENTED'],
  [-7, 'OPERATION_TIMEOUT'],
  [-8, 'BAD_ARGUMENTS'],
  [-12, 'UNKNOWN_SESSION'],
  [-13, 'NEW_CONFIG_NO_QUORUM'],
  [-14, 'RECONFIG_IN_PROGRESS'],
  [-100, 'API_ERROR'],
  [-101, 'NO_NODE'],
  [-102, 'NO_AUTH'],
  [-103, 'BAD_VERSION'],
  [-108, 'NO_CHILDREN_FOR_EPHEMERALS'],
  [-110, 'NODE_EXISTS'],
  [-111, 'NOT_EMPTY'],
  [-112, 'SESSION_EXPIRED'],
  [-113, 'INVALID_CALLBACK'],
  [-114, 'INVALID_ACL'],
  [-115, 'AUTH_FAILED'],
  [-118, 'SESSION_MOVED'],
  [-119, 'NOT_READ_ONLY'],
  [-120, 'EPHEMERAL_ON_LOCAL_SESSION'],
  [-121, 'NO_WATCHER'],
  [-122, 'REQUEST_TIMEOUT'],
  [-123, 'RECONFIG_DISABLED'],
  [-124, 'SESSION_CLOSED_REQUIRE_SASL_AUTH'],
  [-125, 'QUOTA_EXCEEDED'],
  [-127, 'THROTTLED'],
]);

/** ZooKeeper's codes for failures that Petrel itself detects. */
const ownCodes = {
  CONNECTION_LOSS: -4,
  BAD_ARGUMENTS: -8,
  SESSION_EXPIRED: -112,
  AUTH_FAILED: -115,
} as const satisfies Partial<Record<StoreErrorCode, number>>;

const explanations: Partial<Record<StoreErrorCode, string>> = {
  NO_NODE: 'the znode does not exist',
  NO_AUTH: "the znode's ACL does not allow it with these credentials",
  BAD_VERSION: 'the znode does not have the expected version',
  NO_CHILDREN_FOR_EPHEMERALS: 'an ephemeral znode cannot have children',
  NODE_EXISTS: 'the znode already exists',
  NOT_EMPTY: 'the znode has children',
  SESSION_EXPIRED: 'the session has ended',
  AUTH_FAILED: 'the server rejected the credentials',
  INVALID_ACL: 'the server rejected this ACL (is the session authenticated?)',
  SESSION_MOVED: 'the session has moved to another server',
  SESSION_CLOSED_REQUIRE_SASL_AUTH: 'the server requires authentication and has ended the session',
  QUOTA_EXCEEDED: 'a quota of the ensemble was exceeded',
  THROTTLED: 'the server is overloaded and refused the request',
};

/** Error with which the client library reports a failed request. It is not used outside this folder. */
export class Failure extends Error {
  readonly code: number;

  constructor(code: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** Creates a Failure for a problem that Petrel itself detected, with ZooKeeper's code for that problem. */
  static of(code: keyof typeof ownCodes, message: string, cause?: unknown): Failure {
    return new Failure(ownCodes[code], message, cause);
  }

  /** Creates a Failure from an error code that a server sent. */
  static answered(code: number): Failure {
    const name = names.get(code);
    if (name === undefined)
      return new Failure(code, `the server responded with the unknown error code ${code}`);
    const explanation = explanations[name];
    return new Failure(code, explanation === undefined ? name : `${explanation} (${name})`);
  }

  /** Returns the code. The client library requires this method. */
  getCode(): number {
    return this.code;
  }

  get storeCode(): StoreErrorCode {
    return names.get(this.code) ?? 'UNKNOWN';
  }
}
