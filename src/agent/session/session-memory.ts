/** What a node remembers of its session from one life of its agent to the next. Never grants leadership. */
import type { Logger } from 'pino';
import { errorMessage } from '../../errors.js';
import type { Store } from '../../ports/store.js';

/** What a session is ended with. */
export interface SessionTicket {
  readonly id: bigint;
  readonly password: Buffer;
}

export interface SessionMemory {
  /**
   * The earlier life's, as it stood when this life began; null when there is none, or it cannot be
   * understood.
   */
  readonly earlier: SessionTicket | null;
  /**
   * `timeoutMs`: the smallest that the ensemble ever granted. May throw: the session is then not remembered.
   */
  write(ticket: SessionTicket, timeoutMs: number): void;
  /** `ended`: the session has ended in good order, there is nothing to remember. May throw. */
  close(ended: boolean): void;
}

/** Not being able to costs a later life the wait for this session's end, and nothing else. */
export function remember(memory: SessionMemory | null, store: Store, log: Logger): void {
  try {
    const { sessionId: id, sessionPassword: password, negotiatedTimeoutMs } = store;
    memory?.write({ id, password }, negotiatedTimeoutMs);
  } catch (error) {
    log.warn({ error }, `cannot save the session for a restart: ${errorMessage(error)}`);
  }
}

/** `ended`: in good order. */
export function forget(memory: SessionMemory | null, ended: boolean, log: Logger): void {
  try {
    memory?.close(ended);
  } catch (error) {
    log.warn({ error }, `cannot clean up the state directory: ${errorMessage(error)}`);
  }
}
