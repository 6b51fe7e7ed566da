/**
 * The session of an agent that has died. The guardian first holds the session and then ends it. Holding the
 * session keeps it from expiring, so no other node leads while the dead agent's workload may still be
 * running. Ending the session closes it at the ensemble, so the group elects a new leader immediately.
 *
 * Not promised: that a session is held if an outage of the ensemble lasts longer than the session timeout.
 * Nor is it promised that the session is ended if no server can be reached. In that case, the session
 * expires, like the session of a dead machine.
 */
import type { LookupFunction } from 'node:net';
import { errorMessage } from '../errors.js';
import { Alarm } from '../hooks/alarm.js';
import type { Clock } from '../ports/clock.js';
import type { Server } from '../zookeeper/connection-string.js';
import type { Dial, Wire } from '../zookeeper/dial.js';
import { FrameReader } from '../zookeeper/frames.js';
import { resolveHost, ServerRotation } from '../zookeeper/servers.js';
import type { SessionNote } from './messages.js';
import {
  answerToClose,
  attachRequest,
  authRequest,
  closeRequest,
  grantedMs,
  pingRequest,
} from './requests.js';

export interface HeldSessionOptions {
  readonly session: SessionNote;
  readonly dial: Dial;
  /**
   * Prepares a connection. The result is awaited before each connection. It must resolve within `limitMs` and
   * must never reject.
   */
  readonly prepare?: (limitMs: number) => Promise<void> | null;
  readonly clock: Clock;
  /** Returns a random number that is at least 0 and less than 1. */
  readonly random: () => number;
  readonly lookup?: LookupFunction;
}

/**
 * How a session ended:
 * - ended: the ensemble confirmed the end.
 * - over: the session had already ended.
 * - unconfirmed: the ensemble refused to close the session, or no server could be reached before the session
 *   must have expired. The session may still exist if the whole ensemble was stalled.
 */
export type SessionEnd = 'ended' | 'over' | 'unconfirmed';

/** Shares of the session timeout. */
const pingShare = 1 / 3;
const attemptShare = 1 / 3;
const expiryShare = 4 / 3;
const firstPauseMs = 20;
const maxPauseMs = 500;
const maxAnswerBytes = 4096;

interface Attempt {
  readonly wire: Wire;
  attached: boolean;
}

export class HeldSession {
  readonly #options: HeldSessionOptions;
  readonly #rotation: ServerRotation;
  readonly #password: Buffer;
  readonly #next: Alarm;
  readonly #expiry: Alarm;
  readonly #stopped = new AbortController();
  readonly #end: Promise<SessionEnd>;
  #settle: (end: SessionEnd) => void = () => {};
  #attempt: Attempt | null = null;
  /**
   * Shortest and longest timeouts that are known to have been granted. The shortest determines the time
   * between pings. The longest determines when the session must have expired.
   */
  #leastMs: number;
  #mostMs: number;
  #failures = 0;
  #ending = false;
  #lastProblem: string | null = null;

  /** Attaches to the session immediately, and holds it until it ends. */
  constructor(options: HeldSessionOptions) {
    this.#options = options;
    this.#rotation = new ServerRotation(options.session.servers, options.random);
    this.#password = Buffer.from(options.session.password, 'base64');
    this.#leastMs = options.session.timeoutMs;
    this.#mostMs = options.session.longestTimeoutMs;
    this.#next = new Alarm(options.clock);
    this.#expiry = new Alarm(options.clock);
    this.#end = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#inTouch();
    void this.#try();
  }

  /** Whether the session is no longer held, because it has ended or must have expired. */
  get isOver(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Reason why the last attempt to reach a server failed. Null if it did not fail. */
  get lastProblem(): string | null {
    return this.#lastProblem;
  }

  /** Closes the session as soon as a server can be reached. Never rejects. */
  end(): Promise<SessionEnd> {
    this.#ending = true;
    if (this.#attempt?.attached) this.#attempt.wire.write(closeRequest);
    return this.#end;
  }

  async #try(): Promise<void> {
    const { clock, lookup, dial, prepare } = this.#options;
    const server = this.#rotation.next();
    const limitMs = this.#leastMs * attemptShare;
    try {
      const signal = this.#stopped.signal;
      const [resolved] = await Promise.all([
        resolveHost(server.host, { clock, timeoutMs: limitMs, lookup, signal }),
        prepare?.(limitMs),
      ]);
      const address = this.#rotation.rotate(server, resolved)[0]?.address ?? server.host;
      if (!signal.aborted) this.#connect(server, address, dial, limitMs);
    } catch (error) {
      this.#lost(errorMessage(error));
    }
  }

  #connect(server: Server, address: string, dial: Dial, limitMs: number): void {
    const { clock, session } = this.#options;
    const frames = new FrameReader(maxAnswerBytes);
    const wire = dial(
      { server, address },
      {
        opened: () => wire.write(attachRequest(BigInt(session.id), this.#password, session.timeoutMs)),
        received: (chunk) =>
          this.#contain(attempt, () => {
            for (const frame of frames.push(chunk)) this.#received(attempt, frame);
          }),
        closed: () => this.#lost('the server closed the connection', attempt),
        failed: (why) => this.#lost(why, attempt),
      },
    );
    const attempt: Attempt = { wire, attached: false };
    this.#attempt = attempt;
    this.#next.set(clock.monotonicMs() + limitMs, () =>
      this.#lost('the server did not respond in time', attempt),
    );
  }

  #contain(attempt: Attempt, step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#lost(`invalid data from the server: ${errorMessage(error)}`, attempt);
    }
  }

  #received(attempt: Attempt, frame: Buffer): void {
    if (attempt !== this.#attempt) return;
    if (attempt.attached) {
      const closed = answerToClose(frame);
      // A refused close request is not repeated, because attaching to the session again would keep it from
      // expiring.
      if (closed === null) this.#answered(attempt);
      else this.#finish(closed === 'done' ? 'ended' : 'unconfirmed');
      return;
    }
    const timeoutMs = grantedMs(frame);
    if (timeoutMs === null) this.#finish('over');
    else {
      this.#leastMs = Math.min(this.#leastMs, timeoutMs);
      this.#mostMs = Math.max(this.#mostMs, timeoutMs);
      attempt.attached = true;
      this.#failures = 0;
      this.#lastProblem = null;
      const { auth } = this.#options.session;
      if (auth !== null) attempt.wire.write(authRequest(auth));
      if (this.#ending) attempt.wire.write(closeRequest);
      this.#answered(attempt);
    }
  }

  #answered(attempt: Attempt): void {
    this.#inTouch();
    const atMs = this.#options.clock.monotonicMs() + this.#leastMs * pingShare;
    this.#next.set(atMs, () => this.#ping(attempt));
  }

  #ping(attempt: Attempt): void {
    attempt.wire.write(pingRequest);
    const atMs = this.#options.clock.monotonicMs() + this.#leastMs * attemptShare;
    this.#next.set(atMs, () => this.#lost('the server did not respond to a ping', attempt));
  }

  /** Records that the session was renewed, so its time until expiry starts over. */
  #inTouch(): void {
    const atMs = this.#options.clock.monotonicMs() + this.#mostMs * expiryShare;
    this.#expiry.set(atMs, () => this.#finish('unconfirmed'));
  }

  #lost(why: string, attempt: Attempt | null = null): void {
    if (this.#stopped.signal.aborted || attempt !== this.#attempt) return;
    this.#lastProblem = why;
    attempt?.wire.destroy();
    this.#attempt = null;
    const pauseMs = Math.min(firstPauseMs * 2 ** this.#failures, maxPauseMs);
    this.#failures += 1;
    this.#next.set(this.#options.clock.monotonicMs() + pauseMs, () => void this.#try());
  }

  #finish(end: SessionEnd): void {
    this.#stopped.abort();
    this.#next.clear();
    this.#expiry.clear();
    this.#attempt?.wire.destroy();
    this.#attempt = null;
    this.#settle(end);
  }
}
