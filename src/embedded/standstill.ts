/**
 * Pauses the development server at an exact point, so that tests can rehearse a failure there. At this point,
 * a write has arrived but has not been applied yet, or it has been applied but no client has been notified
 * yet.
 *
 * During the pause (a standstill), no request is answered, no watch fires and no session expires. Data that
 * arrives in the meantime is kept in memory, and is processed first when the pause ends. A standstill must be
 * short, just long enough to kill a process, because clients abandon a server that does not respond.
 */
import type { Commit, Write, WriteOperation } from './commit.js';
import type { Connection } from './connection.js';
import type { JuteReader } from './jute.js';
import { readMulti, readOperation } from './operations.js';
import type { Opcode } from './records.js';
import type { Operation } from './tree.js';

export type Moment = 'arrived' | 'committed';

export interface Standstill {
  readonly write: Write;
  /** Ends the standstill. The write is applied if necessary, and all waiting clients are notified. */
  resume(): void;
  /**
   * Breaks the connection on which the write arrived, and ends the standstill. A write that has not been
   * applied yet is dropped, as if it had never arrived. If the write has been applied, only its reply is
   * lost.
   */
  breakOff(): void;
}

interface Point {
  readonly moment: Moment;
  matches(write: Write): boolean;
  reached(standstill: Standstill): void;
}

export class Standstills {
  readonly #points = new Set<Point>();
  readonly #listeners = new Set<(commit: Commit) => void>();
  readonly #waiting: (() => void)[] = [];
  /** The point at which the server is paused. Null if it is not paused. */
  #at: Point | null = null;
  /**
   * The point that the current write has reached, and the write's transaction. Null if the write has reached
   * no point.
   */
  #due: { readonly point: Point; readonly commit: Commit } | null = null;

  get isPaused(): boolean {
    return this.#at !== null;
  }

  at(moment: Moment, matches: (write: Write) => boolean, signal?: AbortSignal): Promise<Standstill> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const giveUp = () => {
        this.#points.delete(point);
        reject(signal?.reason);
      };
      const reached = (standstill: Standstill) => {
        signal?.removeEventListener('abort', giveUp);
        resolve(standstill);
      };
      const point = { moment, matches, reached };
      this.#points.add(point);
      signal?.addEventListener('abort', giveUp);
    });
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Returns true if `step` must wait because the server is paused. In that case, `step` is called after the
   * pause, in order.
   */
  defer(step: () => void): boolean {
    if (this.#at === null) return false;
    this.#waiting.push(step);
    return true;
  }

  /** Called after the database has applied a transaction. */
  committed(commit: Commit): void {
    for (const listener of this.#listeners) listener(commit);
    const point = this.#reachedBy('committed', () => commit);
    if (point !== null) this.#due = { point, commit };
  }

  /**
   * Returns true if the server pauses before this request. In that case, `apply` is called when the pause
   * ends.
   */
  stopBefore(connection: Connection, opcode: Opcode, reader: JuteReader, apply: () => void): boolean {
    let write: Write | null = null;
    const read = () => {
      write ??= { sessionId: connection.sessionId, operations: readWrite(opcode, reader.fork()) };
      return write;
    };
    const point = this.#reachedBy('arrived', read);
    if (point === null) return false;
    this.#stop(point, read(), (isBroken) => {
      if (isBroken) connection.destroy();
      else apply();
    });
    return true;
  }

  /** Calls `notify` immediately, or after the pause if the server must pause at the last transaction. */
  notify(connection: Connection | undefined, notify: () => void): void {
    const due = this.#due;
    this.#due = null;
    if (due === null) {
      notify();
      return;
    }
    this.#stop(due.point, due.commit, (isBroken) => {
      if (isBroken) connection?.destroy();
      notify();
    });
  }

  /** Drops everything that is waiting. Called when all connections are being dropped. */
  reset(): void {
    this.#waiting.length = 0;
    this.#at = null;
    this.#due = null;
  }

  #reachedBy(moment: Moment, write: () => Write): Point | null {
    for (const point of this.#points) if (point.moment === moment && point.matches(write())) return point;
    return null;
  }

  #stop(point: Point, write: Write, then: (isBroken: boolean) => void): void {
    this.#points.delete(point);
    this.#at = point;
    const goOn = (isBroken: boolean) => {
      if (this.#at !== point) return;
      this.#at = null;
      then(isBroken);
      while (this.#at === null && this.#waiting.length > 0) this.#waiting.shift()?.();
    };
    point.reached({ write, resume: () => goOn(false), breakOff: () => goOn(true) });
  }
}

/**
 * Returns the operations of a write request. Returns an empty list if the request is not a write or cannot be
 * read. A request that cannot be read is answered with an error later.
 */
function readWrite(opcode: Opcode, reader: JuteReader): WriteOperation[] {
  try {
    return operationsOf(opcode, reader).map((operation) => ({
      type: operation.type,
      path: operation.path,
      data: 'data' in operation ? operation.data : null,
    }));
  } catch {
    return [];
  }
}

function operationsOf(opcode: Opcode, reader: JuteReader): Operation[] {
  switch (opcode) {
    case 'create':
    case 'create2':
    case 'delete':
    case 'setData':
      return [readOperation(opcode, reader)];
    case 'multi':
      return readMulti(reader).map(({ operation }) => operation);
    default:
      return [];
  }
}
