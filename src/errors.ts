/**
 * Petrel's error classes. There are few on purpose. The `code` describes what happened. The message describes
 * where it happened and what is expected. The `cause` is the underlying error.
 */

/**
 * The kind of error, in terms that a caller can act on. Each code maps to one exit code of the command line.
 */
export type PetrelErrorCode =
  /** Configuration, options or arguments are invalid. No action was taken. */
  | 'INVALID'
  /** The ensemble could not be reached, or did not answer in time. */
  | 'UNREACHABLE'
  /** ZooKeeper denied permission. */
  | 'FORBIDDEN'
  /** Petrel refused the request, for reasons that the error lists. Nothing was changed. */
  | 'REFUSED'
  /** Another client is changing the same data, or changed it first. Nothing was changed. */
  | 'CONFLICT'
  /** Another running agent has this node id. */
  | 'DUPLICATE_NODE'
  /**
   * The time limit was reached while the operation was still in progress. The operation may still succeed.
   */
  | 'UNDER_WAY'
  /** Leadership ended. */
  | 'LEADERSHIP_LOST'
  /** Anything else that failed. */
  | 'FAILED';

/**
 * An action that the user can take to solve the problem. Its wording depends on where the error is shown: on
 * the command line or over HTTP.
 */
export type Remedy =
  /** Confirm the action. `does` describes its effect, for example "drains it before it comes back". */
  | { readonly kind: 'yes'; readonly does: string }
  /** Accept a name that the group does not know yet. `does` describes the effect. */
  | { readonly kind: 'unknown'; readonly does: string }
  /** Name one of the group's slots. */
  | { readonly kind: 'slot' }
  /** Cancel the pending switchover request. */
  | { readonly kind: 'cancel' }
  /** Name another root. */
  | { readonly kind: 'root' }
  /** Use another state directory. */
  | { readonly kind: 'state-dir' }
  /**
   * Use credentials to which ZooKeeper grants permission. `refused` lists the identities that lack
   * permission.
   */
  | { readonly kind: 'credentials'; readonly refused: readonly string[] };

export class PetrelError extends Error {
  override readonly name = 'PetrelError';
  readonly code: PetrelErrorCode;
  /** Reasons why a request was refused, or problems in an input. Each reason is one line. */
  readonly reasons: readonly string[];
  readonly remedies: readonly Remedy[];

  constructor(
    code: PetrelErrorCode,
    message: string,
    options: { cause?: unknown; reasons?: readonly string[]; remedies?: readonly Remedy[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reasons = options.reasons ?? [];
    this.remedies = options.remedies ?? [];
  }
}

/**
 * Reports a violated invariant of the code. No code catches this error. The process ends, and its guardian
 * starts a new process.
 */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant';
}

/** Whether the error, or its cause, says that an address is already in use. */
export function isAddressInUse(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'EADDRINUSE') || isAddressInUse(error.cause);
}

/**
 * Returns `value`. If `value` is missing, the code has a bug, and the function throws BrokenInvariant. `what`
 * names the value for developers.
 */
export function present<T>(value: T, what: string): NonNullable<T> {
  if (value === null || value === undefined) throw new BrokenInvariant(`${what} is missing`);
  return value;
}

/**
 * Returns the text of any thrown value. Never throws, even if the value has no text or has a getter that
 * fails.
 */
export function errorMessage(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'the thrown value has no text';
  }
}
