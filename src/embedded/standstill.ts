/**
 * Moments at which the development server can be made to stand still, so that what fails exactly there can be
 * rehearsed: a write that has arrived and is not applied, or one that is applied and of which nobody was
 * told.
 *
 * While it stands still nothing is answered, no watch fires and no session expires; what arrives waits, in
 * memory, and is served first when it goes on. So it is for the short while in which something is killed:
 * clients give up on a server that says nothing.
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
  /** Goes on: the write is applied if it is not yet, and all who wait for it are told. */
  resume(): void;
  /** Breaks the connection that the write came on, and goes on: it never arrived, or its reply is lost. */
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
  /** Where it stands still now. */
  #at: Point | null = null;
  /** A point that the write being applied has reached. */
  #due: { readonly point: Point; readonly commit: Commit } | null = null;

  get stands(): boolean {
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

  /** True when `step` has to wait: it is called when its turn comes. */
  defer(step: () => void): boolean {
    if (this.#at === null) return false;
    this.#waiting.push(step);
    return true;
  }

  /** The database has applied a transaction. */
  committed(commit: Commit): void {
    for (const listener of this.#listeners) listener(commit);
    const point = this.#reachedBy('committed', () => commit);
    if (point !== null) this.#due = { point, commit };
  }

  /** True when it now stands still before a request; `apply` is called when it goes on. */
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

  /** Calls `tell` now, or, where the transaction just applied has reached a point, when it goes on. */
  tell(connection: Connection | undefined, tell: () => void): void {
    const due = this.#due;
    this.#due = null;
    if (due === null) {
      tell();
      return;
    }
    this.#stop(due.point, due.commit, (isBroken) => {
      if (isBroken) connection?.destroy();
      tell();
    });
  }

  /** All connections are gone, and with them whatever waits. */
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

/** None for what is no write, or cannot be read: that is answered with an error in its turn. */
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
