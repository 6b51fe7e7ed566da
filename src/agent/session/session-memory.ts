/** What a node remembers about its session from one run of its agent to the next. Never grants leadership. */
import type { Logger } from 'pino';
import { errorMessage } from '../../errors.js';
import type { Store } from '../../ports/store.js';

/** What it takes to end a session. */
export interface SessionTicket {
  readonly id: bigint;
  readonly password: Buffer;
}

export interface SessionMemory {
  /** Ticket of the earlier run, as it was when this run began. Null if there is none, or it is malformed. */
  readonly earlier: SessionTicket | null;
  /**
   * `timeoutMs` is the smallest that the ensemble has ever granted. May throw; the session is then not
   * remembered.
   */
  write(ticket: SessionTicket, timeoutMs: number): void;
  /** `ended`: whether the session has ended cleanly, so there is nothing to remember. May throw. */
  close(ended: boolean): void;
}

/**
 * Saves the session for a later run. On failure, that run has to wait for this session to end, and nothing
 * else.
 */
export function remember(memory: SessionMemory | null, store: Store, log: Logger): void {
  try {
    const { sessionId: id, sessionPassword: password, negotiatedTimeoutMs } = store;
    memory?.write({ id, password }, negotiatedTimeoutMs);
  } catch (error) {
    log.warn({ error }, `cannot save the session for a restart: ${errorMessage(error)}`);
  }
}

/** `ended`: whether the session has ended cleanly. */
export function forget(memory: SessionMemory | null, ended: boolean, log: Logger): void {
  try {
    memory?.close(ended);
  } catch (error) {
    log.warn({ error }, `cannot clean up the state directory: ${errorMessage(error)}`);
  }
}
