/**
 * Petrel's error classes. Few on purpose: the `code` tells what happened, the message says where and what
 * would be right, the `cause` keeps what lay below.
 */

/** What went wrong, in terms a caller can act on. Each maps to one exit code of the command line. */
export type PetrelErrorCode =
  /** Configuration, options or arguments are wrong; nothing was tried. */
  | 'INVALID'
  /** The ensemble could not be reached, or did not answer in time. */
  | 'UNREACHABLE'
  /** ZooKeeper refused for lack of permission. */
  | 'FORBIDDEN'
  /** The group refuses, with reasons; nothing was changed. */
  | 'REFUSED'
  /** Somebody else changes the same thing, or changed it first; nothing was changed. */
  | 'CONFLICT'
  /** Another living agent carries this node id. */
  | 'DUPLICATE_NODE'
  /** It had not ended when the wait ended; it may still end well. */
  | 'UNDER_WAY'
  /** Leadership ended. */
  | 'LEADERSHIP_LOST'
  /** Anything else that failed. */
  | 'FAILED';

/** What would help, where its words depend on where somebody asked: at the command line, over HTTP. */
export type Remedy =
  /** To say that it is meant all the same; `does`: what comes of it, "drains it before it comes back". */
  | { readonly kind: 'yes'; readonly does: string }
  /** To name one of the group's slots. */
  | { readonly kind: 'slot' }
  /** To take back the request for a switchover that waits. */
  | { readonly kind: 'cancel' }
  /** To name another root. */
  | { readonly kind: 'root' }
  /** To have credentials that ZooKeeper lets do it. */
  | { readonly kind: 'credentials' };

export class PetrelError extends Error {
  override readonly name = 'PetrelError';
  readonly code: PetrelErrorCode;
  /** One line each: why a request was refused, or what is wrong in an input. */
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
 * What the code rests on does not hold. Nothing catches it: the process ends, and its guardian starts
 * another.
 */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant';
}

/**
 * `value`, which is there wherever the code is right. `what` it is, for whoever mends the code. Throws
 * BrokenInvariant.
 */
export function present<T>(value: T, what: string): NonNullable<T> {
  if (value === null || value === undefined) throw new BrokenInvariant(`${what} is missing`);
  return value;
}

/** The text of anything thrown. Never throws: what others throw may have no text, or a getter that fails. */
export function errorMessage(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'what was thrown has no text';
  }
}
