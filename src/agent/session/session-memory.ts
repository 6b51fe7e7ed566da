/** A node's memory of its session between runs of its agent. The memory never grants leadership. */
import type { Logger } from 'pino';
import { errorMessage } from '../../errors.js';
import type { Store } from '../../ports/store.js';

/** Id and password, with which a client can end a session. */
export interface SessionTicket {
  readonly id: bigint;
  readonly password: Buffer;
}

/** The shortest and the longest timeout that the ensemble has ever granted to a session. */
export interface GrantedTimeouts {
  readonly timeoutMs: number;
  readonly longestTimeoutMs: number;
}

export interface SessionMemory {
  /**
   * Ticket of the earlier run, as it was when this run began. Null if there is no ticket, or if it is
   * malformed.
   */
  readonly earlier: SessionTicket | null;
  /** Remembers the session. May throw. In that case, the session is not remembered. */
  write(ticket: SessionTicket, granted: GrantedTimeouts): void;
  /**
   * Closes the memory at the end of a run. `ended` says whether the session has ended cleanly. If it has,
   * there is nothing to remember. May throw.
   */
  close(ended: boolean): void;
}

/**
 * Saves the session for a later run. The only effect of a failure is that the later run must wait for this
 * session to expire.
 */
export function remember(memory: SessionMemory | null, store: Store, log: Logger): void {
  try {
    const { sessionId: id, sessionPassword: password, longestTimeoutMs } = store;
    memory?.write({ id, password }, { timeoutMs: store.negotiatedTimeoutMs, longestTimeoutMs });
  } catch (error) {
    log.warn({ error }, `cannot save the session for a restart: ${errorMessage(error)}`);
  }
}

/** Closes the memory at the end of a run. `ended` says whether the session has ended cleanly. */
export function forget(memory: SessionMemory | null, ended: boolean, log: Logger): void {
  try {
    memory?.close(ended);
  } catch (error) {
    log.warn({ error }, `cannot clean up the state directory: ${errorMessage(error)}`);
  }
}
