/**
 * Streams the state of the group to any number of readers as server-sent events. Each event contains the
 * complete state, so a reader that misses events still gets all current information. The group is followed
 * only once for all readers, and only while there are readers.
 *
 * Not promised: an event for every change. Several changes during one read are combined into one event. A
 * reader that does not keep up is disconnected, and can connect again.
 */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { errorMessage, PetrelError } from '../errors.js';
import { follow } from '../group/follow.js';
import type { Logger } from '../log.js';
import type { Clock } from '../ports/clock.js';
import { isPermissionError } from '../ports/store.js';
import { failureText } from './failures.js';
import type { GroupSession } from './group-session.js';
import { commonHeaders } from './headers.js';
import { type Status, statusOf } from './status.js';

export interface EventsOptions {
  readonly group: GroupSession;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Number of readers to which messages are written in one event-loop turn. Lease renewals and other requests
 * run between these turns.
 */
export const readersPerTurn = 50;
/**
 * Bytes that a reader may leave unread, in addition to one event. A reader that leaves more unread is
 * disconnected.
 */
const maxBacklogBytes = 64 * 1024;
/**
 * Interval between keep-alive messages to readers, in milliseconds. A reader that receives nothing for longer
 * than this must assume that its information is outdated.
 */
const aliveMs = 5_000;
/**
 * Maximum time between reads of the group, in milliseconds. Some values change merely because time passes.
 */
const lookAgainMs = 5_000;
const retryMs = 1_000;
const alive = Buffer.from(': alive\n\n');

/** Data of the events `out-of-touch` and `refused`. */
export const outOfTouchSchema = z.object({ reason: z.string() });

export class EventHub {
  readonly #options: EventsOptions;
  readonly #readers = new Set<ServerResponse>();
  /** Distinguishes the events of this incarnation of the agent from those of other incarnations. */
  readonly #prefix = randomBytes(6).toString('hex');
  #number = 0;
  /** The newest event. It is the first event that a new reader gets. Null until there is an event. */
  #newest: Buffer | null = null;
  #said = '';
  /**
   * Messages that have not been written yet, keyed by reader, in the order in which they are to be written.
   */
  readonly #due = new Map<ServerResponse, Buffer>();
  #cancelTurn: (() => void) | null = null;
  #following: AbortController | null = null;
  #cancelAlive: () => void = () => {};

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /**
   * Adds a reader. As soon as the current state of the group is known, the reader gets it as its first event.
   */
  add(reader: ServerResponse): void {
    reader.writeHead(200, {
      ...commonHeaders,
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
    });
    reader.write(`retry: ${retryMs}\n\n`);
    this.#readers.add(reader);
    reader.once('close', () => this.#remove(reader));
    if (this.#newest !== null) this.#give([reader], this.#newest);
    if (this.#following === null) this.#begin();
  }

  close(): void {
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
    this.#due.clear();
    this.#stop();
  }

  #remove(reader: ServerResponse): void {
    this.#readers.delete(reader);
    this.#due.delete(reader);
    if (this.#readers.size === 0) this.#stop();
  }

  #begin(): void {
    const following = new AbortController();
    this.#following = following;
    void this.#follow(following.signal);
    this.#keepAlive();
  }

  #stop(): void {
    this.#following?.abort();
    this.#following = null;
    this.#newest = null;
    this.#said = '';
    this.#cancelAlive();
    this.#cancelTurn?.();
    this.#cancelTurn = null;
  }

  /** Follows the group until the signal aborts, across any number of sessions. Never rejects. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#followSession(signal);
      } catch (error) {
        log.debug({ error }, `HTTP: cannot watch the group for /events: ${errorMessage(error)}`);
        const event = isRefusal(error) ? 'refused' : 'out-of-touch';
        if (!signal.aborted) this.#publish(event, { reason: failureText(error) });
      }
      await this.#pause(signal);
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.timer(retryMs, resolve);
      signal.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
  }

  async #followSession(signal: AbortSignal): Promise<void> {
    const { group } = this.#options;
    await group.use(async (access) => {
      const { store } = access;
      const unlisten = store.onState((state) => {
        if (state === 'SUSPENDED' && !signal.aborted) {
          this.#publish('out-of-touch', { reason: 'connection to ZooKeeper lost' });
        }
      });
      const when = { watch: 'all', nextLookInMs: () => lookAgainMs, signal } as const;
      try {
        for await (const view of follow(access, when)) {
          const nowMs = await group.nowMs(store, view);
          const status = await statusOf(view, nowMs);
          if (!signal.aborted) this.#publish('status', status);
        }
      } finally {
        unlisten();
      }
    });
  }

  #publish(event: 'status', content: Status): void;
  #publish(event: 'out-of-touch' | 'refused', content: z.output<typeof outOfTouchSchema>): void;
  #publish(event: string, content: object): void {
    const said = `${event} ${JSON.stringify(content, withoutElapsed)}`;
    if (said === this.#said) return;
    this.#said = said;
    this.#number += 1;
    const data = JSON.stringify(content);
    const message = Buffer.from(`id: ${this.#prefix}-${this.#number}\nevent: ${event}\ndata: ${data}\n\n`);
    this.#newest = message;
    this.#give(this.#readers, message);
  }

  /**
   * Schedules a message for the readers. The message is written to a few readers at a time. Each reader gets
   * the message that is newest at the time of writing.
   */
  #give(readers: Iterable<ServerResponse>, message: Buffer): void {
    for (const reader of readers) this.#due.set(reader, message);
    if (this.#cancelTurn === null) this.#writeSome();
  }

  #writeSome(): void {
    this.#cancelTurn = null;
    for (const [reader, message] of [...this.#due.entries()].slice(0, readersPerTurn)) {
      this.#due.delete(reader);
      this.#write(reader, message);
    }
    if (this.#due.size > 0) this.#cancelTurn = this.#options.clock.turn(() => this.#writeSome());
  }

  #write(reader: ServerResponse, message: Buffer): void {
    if (reader.writableLength > maxBacklogBytes) {
      this.#options.log.debug('HTTP: disconnected a client of /events that reads too slowly');
      reader.destroy();
    } else reader.write(message);
  }

  /**
   * Sends a comment to every reader regularly, so that neither side mistakes a quiet group for a dead
   * connection.
   */
  #keepAlive(): void {
    this.#cancelAlive = this.#options.clock.timer(aliveMs, () => {
      const quiet = [...this.#readers].filter((reader) => !this.#due.has(reader));
      this.#give(quiet, alive);
      this.#keepAlive();
    });
  }
}

/** Whether ZooKeeper responds, but does not let this agent read the group. */
function isRefusal(error: unknown): boolean {
  return isPermissionError(error) || (error instanceof PetrelError && error.code === 'FORBIDDEN');
}

/** Leaves out elapsed times. If only elapsed times change, no event is necessary. */
function withoutElapsed(key: string, value: unknown): unknown {
  return key === 'elapsedMs' || key === 'asOf' ? undefined : value;
}
