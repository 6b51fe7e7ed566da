/** Writes as whoever rehearses failures is told of them. */
import type { Operation } from './tree.js';

/**
 * What a client asks for in one write, or what was done: a path made by a sequence is then the one it got.
 */
export interface Write {
  readonly sessionId: bigint;
  /** A multi's, in order, or the only one. */
  readonly operations: readonly WriteOperation[];
}

export interface WriteOperation {
  readonly type: Operation['type'];
  readonly path: string;
  /** What is written; null where nothing is. */
  readonly data: Buffer | null;
}

export interface Commit extends Write {
  readonly zxid: bigint;
  /**
   * How the session has ended, and its ephemeral znodes with it: by its client's wish, or its time; null: it
   * has not.
   */
  readonly endsSession: 'closed' | 'expired' | null;
}
