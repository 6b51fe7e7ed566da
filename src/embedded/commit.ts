/** Writes, as reported to the rehearsal of failures. */
import type { Operation } from './tree.js';

/** A requested or an applied write. If it was applied, sequential paths include their sequence numbers. */
export interface Write {
  readonly sessionId: bigint;
  /** The operations of a multi in order, or the only operation. */
  readonly operations: readonly WriteOperation[];
}

export interface WriteOperation {
  readonly type: Operation['type'];
  readonly path: string;
  /** The data to write. Null if the operation writes none. */
  readonly data: Buffer | null;
}

export interface Commit extends Write {
  readonly zxid: bigint;
  /**
   * How the session has ended, along with its ephemeral znodes: closed by its client or expired. Null if it
   * has not ended.
   */
  readonly endsSession: 'closed' | 'expired' | null;
}
