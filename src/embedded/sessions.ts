/**
 * Sessions and their expiry. This module is deterministic: the caller passes the time and the secret.
 * Sessions expire in buckets of one tick, as in ZooKeeper. A session expires when its timeout has passed
 * since the last message, or up to one tick later. Time during which the server's own process was paused does
 * not count.
 */

import { createHash, timingSafeEqual } from 'node:crypto';

export interface Session {
  readonly id: bigint;
  readonly password: Buffer;
  readonly timeoutMs: number;
}

export interface SessionLimits {
  readonly tickTimeMs: number;
  readonly minTimeoutMs: number;
  readonly maxTimeoutMs: number;
}

export interface SessionOptions extends SessionLimits {
  /** Secret from which the passwords of sessions are derived. */
  readonly secret: string;
  /**
   * Time at which the numbering of sessions began (epoch milliseconds). A later time gives greater session
   * ids.
   */
  readonly startedAtMs: number;
}

interface Entry {
  /** The most recently granted timeout. */
  timeoutMs: number;
  /** The timeout granted when the session was opened. */
  readonly openedWithMs: number;
  expiresAtMs: number;
}

const passwordBytes = 16;
const serverId = 1n;

export class SessionTable {
  readonly #sessions = new Map<bigint, Entry>();
  readonly #options: SessionOptions;
  #nextId: bigint;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#nextId = firstSessionId(options.startedAtMs);
  }

  get ids(): bigint[] {
    return [...this.#sessions.keys()];
  }

  has(id: bigint): boolean {
    return this.#sessions.has(id);
  }

  open(requestedTimeoutMs: number, nowMs: number): Session {
    const id = this.#nextId;
    this.#nextId += 1n;
    const timeoutMs = this.#granted(requestedTimeoutMs);
    this.#sessions.set(id, {
      timeoutMs,
      openedWithMs: timeoutMs,
      expiresAtMs: this.#bucket(nowMs + timeoutMs),
    });
    return { id, password: this.#passwordOf(id), timeoutMs };
  }

  /** Resumes a session. Returns undefined if the session does not exist or the password is wrong. */
  resume(id: bigint, password: Buffer, requestedTimeoutMs: number, nowMs: number): Session | undefined {
    const entry = this.#sessions.get(id);
    const expected = this.#passwordOf(id);
    if (!entry || password.length !== expected.length || !timingSafeEqual(password, expected))
      return undefined;
    entry.timeoutMs = this.#granted(requestedTimeoutMs);
    this.touch(id, nowMs);
    return { id, password: expected, timeoutMs: entry.timeoutMs };
  }

  /** Restarts the timeout of a session. Returns false if the session has ended. */
  touch(id: bigint, nowMs: number): boolean {
    const entry = this.#sessions.get(id);
    if (!entry) return false;
    entry.expiresAtMs = this.#bucket(nowMs + entry.timeoutMs);
    return true;
  }

  /** Returns the timeout of a session in milliseconds, or undefined if the session has ended. */
  timeoutOf(id: bigint): number | undefined {
    return this.#sessions.get(id)?.timeoutMs;
  }

  /**
   * Takes over all sessions for a new server. Every session's timeout starts again now, with the length that
   * it had when the session was opened.
   */
  takeOver(nowMs: number): void {
    for (const [id, entry] of this.#sessions) {
      entry.timeoutMs = entry.openedWithMs;
      this.touch(id, nowMs);
    }
  }

  /** Gives every session `byMs` more time, because the server itself was paused and read no messages. */
  postpone(byMs: number): void {
    for (const entry of this.#sessions.values()) entry.expiresAtMs = this.#bucket(entry.expiresAtMs + byMs);
  }

  end(id: bigint): boolean {
    return this.#sessions.delete(id);
  }

  /** Returns the sessions whose timeout has passed. Such a session continues until `end` is called. */
  overdue(nowMs: number): bigint[] {
    return this.ids.filter((id) => (this.#sessions.get(id)?.expiresAtMs ?? 0) <= nowMs);
  }

  #granted(requestedMs: number): number {
    const { minTimeoutMs, maxTimeoutMs } = this.#options;
    return Math.min(Math.max(requestedMs, minTimeoutMs), maxTimeoutMs);
  }

  #bucket(atMs: number): number {
    const { tickTimeMs } = this.#options;
    return (Math.floor(atMs / tickTimeMs) + 1) * tickTimeMs;
  }

  #passwordOf(id: bigint): Buffer {
    const hash = createHash('sha256').update(`${this.#options.secret} ${id}`).digest();
    return hash.subarray(0, passwordBytes);
  }
}

/**
 * Returns the first session id, built as in ZooKeeper: the server's number in the top byte, then five bytes
 * of the time, then a counter.
 */
function firstSessionId(startedAtMs: number): bigint {
  const time = BigInt.asUintN(64, BigInt(Math.floor(startedAtMs)) << 24n) >> 8n;
  return BigInt.asIntN(64, time | (serverId << 56n));
}
