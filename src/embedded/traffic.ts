/**
 * Counts the requests and notifications of each session, so that tests can limit the cost of an operation.
 */

import type { Opcode } from './records.js';

export interface SessionTraffic {
  /** Number of requests received, by operation. Operations that the client never sent are absent. */
  readonly requests: Readonly<Partial<Record<Opcode, number>>>;
  /** Number of watch notifications sent. */
  readonly notifications: number;
}

interface Counts {
  readonly requests: Partial<Record<Opcode, number>>;
  notifications: number;
}

/**
 * Maximum number of sessions whose traffic is kept, including ended sessions. The oldest sessions are dropped
 * first.
 */
const maxSessions = 10_000;

export class Traffic {
  readonly #sessions = new Map<bigint, Counts>();

  request(sessionId: bigint, opcode: Opcode): void {
    const { requests } = this.#of(sessionId);
    requests[opcode] = (requests[opcode] ?? 0) + 1;
  }

  notification(sessionId: bigint): void {
    this.#of(sessionId).notifications += 1;
  }

  snapshot(): Map<bigint, SessionTraffic> {
    return structuredClone(this.#sessions);
  }

  #of(sessionId: bigint): Counts {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const counts: Counts = { requests: {}, notifications: 0 };
    this.#sessions.set(sessionId, counts);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > maxSessions && oldest !== undefined) this.#sessions.delete(oldest);
    return counts;
  }
}
