/** The ZooKeeper error codes that the development server uses, and the error class for them. */

export const errorCodes = {
  RUNTIME_INCONSISTENCY: -2,
  MARSHALLING_ERROR: -5,
  UNIMPLEMENTED: -6,
  BAD_ARGUMENTS: -8,
  NO_NODE: -101,
  NO_AUTH: -102,
  BAD_VERSION: -103,
  NO_CHILDREN_FOR_EPHEMERALS: -108,
  NODE_EXISTS: -110,
  NOT_EMPTY: -111,
  SESSION_EXPIRED: -112,
  INVALID_ACL: -114,
  AUTH_FAILED: -115,
  NO_WATCHER: -121,
} as const;

export type ErrorCode = keyof typeof errorCodes;

export class ZooKeeperError extends Error {
  override readonly name = 'ZooKeeperError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, subject: string) {
    super(`${code}: ${subject}`);
    this.code = code;
  }
}
