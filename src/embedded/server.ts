/**
 * The development server: one ZooKeeper server in this process, all of it in memory, for development and
 * tests. It speaks ZooKeeper's client protocol, so any ZooKeeper client can use it.
 *
 * Not promised: persistence (all is lost when it closes), an ensemble, TLS, SASL, quotas, containers, znodes
 * with a time to live. Not for production: an election must outlive any one process.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, isIPv6, type Server } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import * as z from 'zod';
import { errorMessage, PetrelError } from '../errors.js';
import type { Commit, Write } from './commit.js';
import { Database } from './database.js';
import { Service } from './service.js';
import { type Moment, type Standstill, Standstills } from './standstill.js';
import type { SessionTraffic } from './traffic.js';
import type { SequenceOverflow } from './tree.js';

export interface DevelopmentServerOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /**
   * Address to listen on. Default 127.0.0.1. There is no access control but ZooKeeper's own: keep it local.
   */
  readonly host?: string;
  /** ZooKeeper's basic time unit, and how finely sessions expire. Default 500. */
  readonly tickTimeMs?: number;
  /** Shortest session timeout granted. Default two ticks. */
  readonly minSessionTimeoutMs?: number;
  /** Longest session timeout granted. Default twenty ticks. */
  readonly maxSessionTimeoutMs?: number;
  /** What sequence counters do past 2147483647. Default `wraps`. */
  readonly sequenceOverflow?: SequenceOverflow;
  readonly logger?: Logger;
}

export interface DevelopmentServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** `host:port`, as clients take it. */
  readonly connectString: string;
  /**
   * Ends a session at once, as if nothing had been heard of it for its timeout. False when there is no such
   * session.
   */
  expireSession(id: bigint): boolean;
  /**
   * What each session has sent, and been told by watches, since the server started; ended sessions included.
   */
  requestCounts(): Map<bigint, SessionTraffic>;
  /** Breaks every connection. Sessions live on, and clients may connect again. */
  dropConnections(): void;
  /**
   * Stops answering, as a stopped process does: connections are still taken, and nothing is ever said on
   * them.
   */
  freeze(): void;
  /** Ends a freeze. Sessions whose time is over expire before anything that waits is read. */
  resume(): void;
  /**
   * Stands still at the first write that `matches`: when it has `arrived`, before it is applied, or when it
   * is `committed`, before anybody is told. Nothing is answered, no watch fires and no session expires until
   * the standstill that this resolves to is ended. With `signal` it no longer waits for such a write, and
   * rejects.
   */
  standStill(moment: Moment, matches: (write: Write) => boolean, signal?: AbortSignal): Promise<Standstill>;
  /** Calls `listener` with every transaction, the ends of sessions included, before anybody else is told. */
  onCommit(listener: (commit: Commit) => void): () => void;
  /**
   * Makes `next` the sequence of the next sequential znode under `path`: for rehearsing what happens when a
   * counter passes 2147483647. Throws `PetrelError` (INVALID) when there is no such znode.
   */
  setNextSequence(path: string, next: number): void;
  /** Breaks every connection and takes no more, as if the server's process were gone. Its data are kept. */
  halt(): Promise<void>;
  /**
   * Starts again, on the same port and data, halting first if it ran. Sessions are as old as if just heard
   * of. Throws `PetrelError` (FAILED) when it can't listen.
   */
  restart(): Promise<void>;
  /** Breaks every connection, stops listening, and lets go of every timer. May be called twice. */
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
 * Starts a development server. Throws `PetrelError`: INVALID for bad options, FAILED when it can't listen.
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
    this.#running = { listener, stopTicking: tick(this.#tickTimeMs, () => this.#service.expireOverdue()) };
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
    const message = `the development server can't listen on ${host}:${port}: ${errorMessage(cause)}`;
    throw new PetrelError('FAILED', message, { cause });
  }
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}

/** Wall-clock time that runs evenly even when the machine's clock is set. */
function nowMs(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}

/**
 * As if each start of the server were a new epoch of an ensemble. A client that comes back to a server
 * started anew then learns that its session is over, instead of being sent away for having seen later zxids;
 * and a fencing token is never given out twice.
 */
function startZxid(startedAtMs: number): bigint {
  const secondsSince2024 = Math.floor((startedAtMs - Date.UTC(2024, 0)) / 1000);
  return BigInt(secondsSince2024) << 32n;
}

/** Calls `work` at every whole tick. The returned function ends it. */
function tick(tickTimeMs: number, work: () => void): () => void {
  let timer: NodeJS.Timeout;
  const schedule = () => {
    timer = setTimeout(
      () => {
        work();
        schedule();
      },
      tickTimeMs - (nowMs() % tickTimeMs),
    );
  };
  schedule();
  return () => clearTimeout(timer);
}
