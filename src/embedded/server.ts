/**
 * The development server: one ZooKeeper server in this process, entirely in memory, for development and
 * tests. It implements ZooKeeper's client protocol, so any ZooKeeper client can use it.
 *
 * Not promised: persistence (all data is lost when the server closes), an ensemble, TLS, SASL, quotas,
 * containers, and znodes with a time to live. Not for production: an election must outlive any single
 * process.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, isIPv6, type Server } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import * as z from 'zod';
import { errorMessage, isAddressInUse, PetrelError } from '../errors.js';
import type { Commit, Write } from './commit.js';
import { Database } from './database.js';
import { Service } from './service.js';
import { type Moment, type Standstill, Standstills } from './standstill.js';
import type { SessionTraffic } from './traffic.js';
import type { SequenceOverflow } from './tree.js';

export interface DevelopmentServerOptions {
  /** TCP port to listen on. The default is 0, which means any free port. */
  readonly port?: number;
  /**
   * Address to listen on. The default is 127.0.0.1. ZooKeeper's ACLs are the only access control, so the
   * server should not be reachable from other machines.
   */
  readonly host?: string;
  /** ZooKeeper's basic time unit in milliseconds. Sessions expire at multiples of it. The default is 500. */
  readonly tickTimeMs?: number;
  /** The shortest session timeout that a client can get. The default is two ticks. */
  readonly minSessionTimeoutMs?: number;
  /** The longest session timeout that a client can get. The default is twenty ticks. */
  readonly maxSessionTimeoutMs?: number;
  /** Behaviour of sequence counters past 2147483647. The default is `wraps`. */
  readonly sequenceOverflow?: SequenceOverflow;
  readonly logger?: Logger;
}

export interface DevelopmentServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Address of the server as clients expect it: `host:port`. */
  readonly connectString: string;
  /**
   * Expires a session immediately, as if its timeout had passed. Returns false if there is no such session.
   */
  expireSession(id: bigint): boolean;
  /**
   * Returns the number of requests and watch notifications of each session since the server started. Ended
   * sessions are included.
   */
  requestCounts(): Map<bigint, SessionTraffic>;
  /** Breaks every connection. Sessions continue, and clients can reconnect. */
  dropConnections(): void;
  /**
   * Makes the server stop responding, like a stopped process. It still accepts connections, but sends nothing
   * on them.
   */
  freeze(): void;
  /** Ends a freeze. Overdue sessions expire before any waiting data is read. */
  resume(): void;
  /**
   * Makes the server pause at the first write for which `matches` returns true. With `arrived`, it pauses
   * before the write is applied. With `committed`, it pauses before any client is notified. During the pause,
   * no request is answered, no watch fires and no session expires.
   *
   * Resolves when the server has paused. The pause lasts until the caller ends the returned standstill. If
   * `signal` aborts before such a write arrives, the server does not pause, and the promise rejects.
   */
  standStill(moment: Moment, matches: (write: Write) => boolean, signal?: AbortSignal): Promise<Standstill>;
  /**
   * Calls `listener` for every transaction, including the ends of sessions. The call happens before any
   * client is notified. Returns a function that removes the listener.
   */
  onCommit(listener: (commit: Commit) => void): () => void;
  /**
   * Sets the sequence number of the next sequential znode under `path` to `next`. Tests use it to move a
   * counter past 2147483647. Throws `PetrelError` (INVALID) if there is no znode at `path`.
   */
  setNextSequence(path: string, next: number): void;
  /** Breaks every connection and accepts no more, as if the server's process had ended. The data is kept. */
  halt(): Promise<void>;
  /**
   * Starts the server again with the same port and data. Halts it first if it is running. Restarts the
   * timeouts of all sessions. Throws `PetrelError` (FAILED) if the server cannot listen.
   */
  restart(): Promise<void>;
  /** Breaks every connection, stops listening, and cancels every timer. A second call has no effect. */
  close(): Promise<void>;
}

const defaultTickTimeMs = 500;
const durationMs = z.number().int().positive();

const optionsSchema = z.object({
  port: z.number().int().min(0).max(65_535).default(0),
  host: z.string().min(1).default('127.0.0.1'),
  tickTimeMs: durationMs.default(defaultTickTimeMs),
  minSessionTimeoutMs: durationMs.optional(),
  maxSessionTimeoutMs: durationMs.optional(),
  sequenceOverflow: z.enum(['wraps', 'sticks']).default('wraps'),
});

/**
 * Starts a development server. Throws `PetrelError` INVALID if an option is invalid, and FAILED if the server
 * cannot listen.
 */
export async function startDevelopmentServer(
  options: DevelopmentServerOptions = {},
): Promise<DevelopmentServer> {
  const { logger, ...rest } = options;
  const settings = readOptions(rest);
  const standstills = new Standstills();
  const database = new Database({
    committed: (commit) => standstills.committed(commit),
    tickTimeMs: settings.tickTimeMs,
    minTimeoutMs: settings.minSessionTimeoutMs,
    maxTimeoutMs: settings.maxSessionTimeoutMs,
    sequenceOverflow: settings.sequenceOverflow,
    secret: randomUUID(),
    startedAtMs: nowMs(),
    startZxid: startZxid(nowMs()),
  });
  const server = new EmbeddedServer(database, standstills, logger, settings);
  await server.restart();
  return server;
}

type Settings = ReturnType<typeof readOptions>;

class EmbeddedServer implements DevelopmentServer {
  readonly host: string;
  readonly #database: Database;
  readonly #service: Service;
  readonly #standstills: Standstills;
  readonly #tickTimeMs: number;
  #port: number;
  #running: { readonly listener: Server; readonly stopTicking: () => void } | undefined;

  constructor(database: Database, standstills: Standstills, logger: Logger | undefined, settings: Settings) {
    this.#database = database;
    this.#standstills = standstills;
    this.#service = new Service({ database, nowMs, logger, standstills });
    this.#tickTimeMs = settings.tickTimeMs;
    this.#port = settings.port;
    this.host = settings.host;
  }

  get port(): number {
    return this.#port;
  }

  get connectString(): string {
    return `${isIPv6(this.host) ? `[${this.host}]` : this.host}:${this.port}`;
  }

  async restart(): Promise<void> {
    await this.halt();
    const listener = createServer((socket) => this.#service.accept(socket));
    this.#port = await listen(listener, this.host, this.#port);
    this.#database.touchAllSessions(nowMs());
    this.#running = { listener, stopTicking: tick(this.#tickTimeMs, (lateMs) => this.#ticked(lateMs)) };
  }

  async halt(): Promise<void> {
    if (!this.#running) return;
    const { listener, stopTicking } = this.#running;
    this.#running = undefined;
    stopTicking();
    const closed = once(listener, 'close');
    listener.close();
    this.#service.dropConnections();
    await closed;
  }

  /**
   * A late tick means that this process was paused, by a busy machine or in a debugger. Messages that clients
   * sent in the meantime have not been read, so the pause does not count against their sessions.
   */
  #ticked(lateMs: number): void {
    if (lateMs > this.#tickTimeMs) this.#database.postponeExpiry(lateMs);
    this.#service.expireOverdue();
  }

  close(): Promise<void> {
    return this.halt();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.halt();
  }

  expireSession(id: bigint): boolean {
    return this.#service.endSession(id);
  }

  requestCounts(): Map<bigint, SessionTraffic> {
    return this.#service.traffic.snapshot();
  }

  dropConnections(): void {
    this.#service.dropConnections();
  }

  freeze(): void {
    this.#service.setFrozen(true);
  }

  resume(): void {
    this.#service.setFrozen(false);
  }

  standStill(moment: Moment, matches: (write: Write) => boolean, signal?: AbortSignal): Promise<Standstill> {
    return this.#standstills.at(moment, matches, signal);
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return this.#standstills.onCommit(listener);
  }

  setNextSequence(path: string, next: number): void {
    try {
      this.#database.setNextSequence(path, next);
    } catch (cause) {
      throw new PetrelError('INVALID', `there is no znode ${path} whose sequence could be set`, { cause });
    }
  }
}

function readOptions(options: Omit<DevelopmentServerOptions, 'logger'>) {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
  const { tickTimeMs } = parsed.data;
  const { minSessionTimeoutMs = 2 * tickTimeMs, maxSessionTimeoutMs = 20 * tickTimeMs } = parsed.data;
  if (minSessionTimeoutMs > maxSessionTimeoutMs) {
    throw invalid(
      `minSessionTimeoutMs ${minSessionTimeoutMs} is above maxSessionTimeoutMs ${maxSessionTimeoutMs}`,
    );
  }
  return { ...parsed.data, minSessionTimeoutMs, maxSessionTimeoutMs };
}

function invalid(reason: string): PetrelError {
  return new PetrelError('INVALID', `options of the development server: ${reason}`);
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    const why = isAddressInUse(cause) ? 'address already in use' : errorMessage(cause);
    const message = `the development server cannot listen on ${host}:${port}: ${why}`;
    throw new PetrelError('FAILED', message, { cause });
  }
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}

/**
 * Returns the wall-clock time, in milliseconds since the epoch. This time advances steadily, even if the
 * machine's clock is set.
 */
function nowMs(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}

/**
 * Returns the zxid at which a new server starts. Each new server gets a new epoch, as in an ensemble, but
 * `restart` keeps the old one. A client that reconnects to a new server therefore learns that its session has
 * ended. Otherwise, the server would reject the client because the client has seen later zxids. The new epoch
 * also ensures that no fencing token is issued twice.
 */
function startZxid(startedAtMs: number): bigint {
  const secondsSince2024 = Math.floor((startedAtMs - Date.UTC(2024, 0)) / 1000);
  return BigInt(secondsSince2024) << 32n;
}

/** Calls `work` at every whole tick, and passes it the delay. Returns a function that stops the calls. */
function tick(tickTimeMs: number, work: (lateMs: number) => void): () => void {
  let timer: NodeJS.Timeout;
  const schedule = () => {
    const calledAtMs = nowMs();
    const dueAtMs = calledAtMs - (calledAtMs % tickTimeMs) + tickTimeMs;
    timer = setTimeout(() => {
      work(Math.max(0, nowMs() - dueAtMs));
      schedule();
    }, dueAtMs - calledAtMs);
  };
  schedule();
  return () => clearTimeout(timer);
}
