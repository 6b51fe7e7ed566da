/** Descriptions of writes, for tests that rehearse failures at a particular write. */
import type { Operation } from './tree.js';

/**
 * A requested write or an applied write. In an applied write, sequential paths include their sequence
 * numbers.
 */
export interface Write {
  readonly sessionId: bigint;
  /** The operations of a multi in order. For any other write, its only operation. */
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
   * How the write ended the session: the client closed the session, or the session expired. In both cases,
   * the write deleted the session's ephemeral znodes. Null if the write did not end a session.
   */
  readonly endsSession: 'closed' | 'expired' | null;
}
