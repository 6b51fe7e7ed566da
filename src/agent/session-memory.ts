/** What a node remembers of its session from one life of its agent to the next. Never grants leadership. */

/** What a session is ended with. */
export interface SessionTicket {
  readonly id: bigint;
  readonly password: Buffer;
}

export interface SessionMemory {
  /** The earlier life's, as it stood when this life began; null when there is none, or it cannot be understood. */
  readonly earlier: SessionTicket | null;
  /** `timeoutMs`: as the ensemble granted it. May throw: the session is then not remembered. */
  write(ticket: SessionTicket, timeoutMs: number): void;
  /** `ended`: the session has ended in good order, there is nothing to remember. May throw. */
  close(ended: boolean): void;
}
