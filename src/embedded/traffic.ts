/** Counts what each session sends and is told, so that a test can say how much a piece of work may cost. */

import type { Opcode } from './records.js';

export interface SessionTraffic {
  /** Requests received, by operation; operations never sent are absent. */
  readonly requests: Readonly<Partial<Record<Opcode, number>>>;
  /** Watch notifications sent. */
  readonly notifications: number;
}

interface Counts {
  readonly requests: Partial<Record<Opcode, number>>;
  notifications: number;
}

/** Sessions remembered, ended ones included; the oldest are forgotten first. */
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
