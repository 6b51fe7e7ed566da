/**
 * One ZooKeeper session over any number of connections. It replaces the client library's own
 * ConnectionManager. The library's clients build requests and pass them to `queue`. The library's watcher
 * manager remembers which watches to set again.
 *
 * The connection state is only a hint: it shows what this side has noticed. CONNECTED does not prove that the
 * ensemble still keeps the session. Only `evidence` proves that.
 */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import zookeeper from 'node-zookeeper-client';
import ConnectionManager from 'node-zookeeper-client/lib/ConnectionManager.js';
import jute from 'node-zookeeper-client/lib/jute/index.js';
import { errorMessage } from '../errors.js';
import {
  type LeaseEvidence,
  noEvidence,
  requestAnswered,
  resumptionSent,
  sessionOpened,
  sessionResumed,
  writeCommitted,
} from '../lease/lease.js';
import type { Clock } from '../ports/clock.js';
import type { StoreState } from '../ports/store.js';
import { type Answer, Connection, type ConnectionOwner } from './connection.js';
import { type ConnectionString, type Server, serverText } from './connection-string.js';
import type { Dial } from './dial.js';
import { Failure } from './failure.js';
import { Outage } from './outage.js';
import { firstPauseMs, longestPauseMs } from './reconnecting.js';
import { resolveHost, ServerRotation } from './servers.js';
import { ServerProblems } from './unreachable.js';
import { watchFrames } from './watch-frames.js';

/** The methods of a logger that are used here. A pino logger has them. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface SessionOptions {
  readonly servers: ConnectionString;
  readonly sessionTimeoutMs: number;
  readonly clock: Clock;
  readonly credentials: readonly { readonly scheme: string; readonly credentials: string }[];
  readonly dial: Dial;
  readonly isSecure: boolean;
  /**
   * Returns a number from 0 (inclusive) to 1 (exclusive). The number is used to spread clients over servers
   * and over time.
   */
  readonly random: () => number;
  readonly lookup: LookupFunction | undefined;
  /** Existing session to attach to. Undefined to open a new one. */
  readonly resume: { readonly id: bigint; readonly password: Buffer } | undefined;
  readonly logger: Logger;
  /** Called with every new state. Must not throw. */
  readonly onState: (state: StoreState) => void;
  /** Called with the path of every watch event. Must not throw. */
  readonly onChange: (path: string) => void;
}

/** Largest packet in bytes that a server accepts by default (jute.maxbuffer), without the length prefix. */
const maxPacketBytes = 0xfffff;
/**
 * A session without contact for this share of its timeout counts as over, even if the ensemble says
 * otherwise.
 */
const expiryShare = 4 / 3;

const knownEvents = { first: zookeeper.Event.NODE_CREATED, last: zookeeper.Event.NODE_CHILDREN_CHANGED };

export class Session extends ConnectionManager implements ConnectionOwner {
  readonly #options: SessionOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #rotation: ServerRotation;
  readonly #outage: Outage;
  readonly #stopped = new AbortController();
  readonly #problems: ServerProblems;
  #running = false;
  #state: StoreState = 'CONNECTING';
  #over: Failure | undefined;
  #connection: Connection | undefined;
  #authsDue = 0;
  /**
   * The smallest timeout that any server has granted. ZooKeeper keeps the timeout from the session's
   * creation, even if servers grant a different one later. A new leader of the ensemble applies the original
   * timeout.
   */
  #negotiatedTimeoutMs = 0;
  /** The greatest timeout that any server has granted. Without contact, the session may last this long. */
  #longestTimeoutMs = 0;
  #lastContactAtMs = Number.POSITIVE_INFINITY;
  #evidence = noEvidence;
  #cancelTimer: () => void = () => {};
  #ending:
    | { readonly confirmed: Promise<boolean>; readonly settle: (confirmed: boolean) => void }
    | undefined;

  constructor(options: SessionOptions) {
    // The library parses its list of servers from this text. Petrel uses the list in `options`, which has
    // already been checked.
    super('unused', { sessionTimeout: options.sessionTimeoutMs }, () => {});
    this.#options = options;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#problems = new ServerProblems(options.servers.servers);
    this.#outage = new Outage(options.clock, options.logger);
    this.#rotation = new ServerRotation(options.servers.servers, options.random);
    this.chrootPath = options.servers.chroot === '' ? undefined : options.servers.chroot;
    if (options.resume) {
      this.sessionId.writeBigUInt64BE(BigInt.asUintN(64, options.resume.id));
      this.sessionPassword = Buffer.from(options.resume.password);
    }
  }

  get state(): StoreState {
    this.notice();
    return this.#state;
  }

  /** Ignores the value. The library's constructor sets a state. */
  set state(_: unknown) {}

  get negotiatedTimeoutMs(): number {
    return this.#negotiatedTimeoutMs;
  }

  get longestTimeoutMs(): number {
    return this.#longestTimeoutMs;
  }

  /** The last problem with each server. */
  get problems(): Pick<ServerProblems, 'text' | 'unreachable'> {
    return this.#problems;
  }

  get evidence(): LeaseEvidence {
    return this.#evidence;
  }

  /** The error with which requests are currently refused. */
  get refusal(): Failure {
    return this.#over ?? Failure.of('CONNECTION_LOSS', `not connected: ${this.#problems.text}`);
  }

  /** Starts connecting, and reconnects until the session is over. Further calls do nothing. */
  override connect(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#keepConnected();
  }

  override queue(request: jute.Request, callback: ConnectionManager.QueueCallback): void {
    this.notice();
    const connection = this.#state === 'CONNECTED' ? this.#connection : undefined;
    if (connection === undefined) {
      callback(this.refusal);
      return;
    }
    request.payload?.setChrootPath(this.chrootPath);
    const bytes = (request.header?.byteLength() ?? 0) + (request.payload?.byteLength() ?? 0);
    if (bytes > maxPacketBytes) {
      const problem = `the request is ${bytes} bytes long, but ZooKeeper accepts at most ${maxPacketBytes}, including path and ACL`;
      callback(Failure.of('BAD_ARGUMENTS', problem));
      return;
    }
    connection.send(request, (error, response) => {
      if (error && response && isFatal(error)) this.#lose(error);
      callback(error, response);
    });
  }

  /** Ends the current connection and tries the next server. Unanswered requests fail. */
  changeServer(): void {
    if (this.#state !== 'CONNECTED') return;
    this.#connection?.end(Failure.of('CONNECTION_LOSS', 'switched to another server'));
  }

  /**
   * Tries for up to `timeoutMs` to make the ensemble end the session, and then releases all resources.
   * Resolves to true if the ensemble confirmed the end of the session.
   */
  endSession(timeoutMs: number, abandon: boolean): Promise<boolean> {
    if (this.#ending) return this.#ending.confirmed;
    let settle: (confirmed: boolean) => void = () => {};
    const confirmed = new Promise<boolean>((resolve) => {
      settle = resolve;
    });
    this.#ending = { confirmed, settle };
    if (this.#over) {
      settle(false);
      return confirmed;
    }
    const cancel = this.#clock.timer(timeoutMs, () => this.#finish(false));
    void confirmed.finally(cancel);
    this.#over = Failure.of('SESSION_EXPIRED', 'the store was closed');
    this.#enter('CLOSED');
    if (abandon) this.#finish(false);
    else if (this.#connection?.accepted) this.#sendClose(this.#connection);
    else if (!this.#running || !(this.#hasSession || this.#connection?.handshakeSent)) this.#finish(false);
    return confirmed;
  }

  /** Checks the clock. Must be called before anything that requires a connection. */
  notice(): void {
    this.#connection?.notice();
    if (this.#over) return;
    if (this.#clock.monotonicMs() >= this.#expiresAtMs()) {
      this.#lose(
        Failure.of('SESSION_EXPIRED', `no contact for 4/3 of the session timeout: ${this.#problems.text}`),
      );
    }
  }

  // -- Events of the connection

  handshake(): jute.ConnectRequest {
    if (this.#hasSession) this.#evidence = resumptionSent(this.#evidence, this.#clock.monotonicMs());
    const { sessionTimeoutMs } = this.#options;
    const { PROTOCOL_VERSION: version, protocol } = jute;
    return new protocol.ConnectRequest(
      version,
      this.zxid,
      sessionTimeoutMs,
      this.sessionId,
      this.sessionPassword,
    );
  }

  handshakeAnswered(connection: Connection, response: jute.ConnectResponse, sentAtMs: number): void {
    if (response.timeOut <= 0) {
      if (!this.#hasSession) throw new Error('the server granted no session');
      this.#lose(Failure.of('SESSION_EXPIRED', 'the ensemble has ended the session'));
      return;
    }
    if (this.#hasSession && !response.sessionId.equals(this.sessionId)) {
      throw new Error(`requested session 0x${hex(this.sessionId)}, received 0x${hex(response.sessionId)}`);
    }
    const shrunkMs = this.#negotiatedTimeoutMs - response.timeOut;
    this.#evidence = this.#hasSession
      ? sessionResumed(this.#evidence, sentAtMs, shrunkMs)
      : sessionOpened(sentAtMs);
    this.sessionId = response.sessionId;
    this.sessionPassword = response.passwd ?? Buffer.alloc(16);
    this.#negotiatedTimeoutMs = Math.min(
      this.#negotiatedTimeoutMs || Number.POSITIVE_INFINITY,
      response.timeOut,
    );
    this.#longestTimeoutMs = Math.max(this.#longestTimeoutMs, response.timeOut);
    this.#lastContactAtMs = this.#clock.monotonicMs();
    connection.accept(this.#negotiatedTimeoutMs);
    if (this.#ending) this.#sendClose(connection);
    else this.#authenticate(connection);
    this.#armTimer();
  }

  authAnswered(connection: Connection, error: Failure | null): void {
    if (this.#ending) return;
    if (error) this.#lose(Failure.of('AUTH_FAILED', error.message));
    else if (--this.#authsDue === 0) this.#ready(connection);
  }

  answered(answer: Answer): void {
    const timeoutMs = this.#negotiatedTimeoutMs;
    this.#lastContactAtMs = answer.answeredAtMs;
    this.#evidence = requestAnswered(this.#evidence, answer, timeoutMs);
    if (answer.committed) this.#evidence = writeCommitted(this.#evidence, answer.sentAtMs, timeoutMs);
  }

  zxidSeen(zxid: Buffer): void {
    if (zxid.readBigInt64BE() > this.zxid.readBigInt64BE()) this.zxid = zxid;
  }

  notified(event: jute.WatcherEvent): void {
    this.#lastContactAtMs = this.#clock.monotonicMs();
    if (event.type >= knownEvents.first && event.type <= knownEvents.last) this.watcherManager.emit(event);
    if (event.path) this.#options.onChange(event.path);
  }

  ended(connection: Connection, failure: Failure): void {
    this.#connection = undefined;
    const { message } = failure;
    this.#note(connection.endpoint.server, connection.problem ?? message, message);
    if (this.#state === 'CONNECTED') this.#enter('SUSPENDED');
    if (this.#ending && !this.#hasSession) this.#finish(false);
    this.#armTimer();
  }

  // -- Finding a server

  async #keepConnected(): Promise<void> {
    let failures = 0;
    while (!this.#stopped.signal.aborted) {
      failures = (await this.#visit(this.#rotation.next())) ? 0 : failures + 1;
      const rounds = failures / this.#rotation.size;
      if (rounds < 1 || !Number.isInteger(rounds)) continue;
      if (!this.#over) this.#outage.goesOn(this.#problems.text);
      await this.#pause(rounds);
    }
  }

  /**
   * Tries to connect to a server. Resolves when the connection has ended. The result is true if the
   * connection lasted for a while.
   */
  async #visit(server: Server): Promise<boolean> {
    const shareMs = this.#timeoutMs / this.#rotation.size;
    this.#problems.tries(server);
    const addresses = await this.#resolve(server, shareMs);
    for (const { address } of addresses) {
      if (this.#stopped.signal.aborted) break;
      const stoodMs = await this.#live(server, address, shareMs / addresses.length);
      if (stoodMs > 0) return stoodMs >= firstPauseMs(this.#timeoutMs);
    }
    return false;
  }

  async #resolve(server: Server, timeoutMs: number): Promise<LookupAddress[]> {
    const { lookup } = this.#options;
    const { signal } = this.#stopped;
    try {
      const addresses = await resolveHost(server.host, { clock: this.#clock, timeoutMs, lookup, signal });
      return this.#rotation.rotate(server, addresses);
    } catch (error) {
      this.#note(server, errorMessage(error));
      return [];
    }
  }

  /** Runs one connection to its end. Returns how long the connection was ready, in milliseconds. */
  async #live(server: Server, address: string, openWithinMs: number): Promise<number> {
    const connection = new Connection({
      endpoint: { server, address },
      dial: this.#options.dial,
      isSecure: this.#options.isSecure,
      clock: this.#clock,
      chroot: this.chrootPath,
      openByMs: this.#clock.monotonicMs() + openWithinMs,
      owner: this,
    });
    this.#connection = connection;
    this.#armTimer();
    await connection.closed;
    return connection.stoodMs;
  }

  #pause(rounds: number): Promise<void> {
    const longestMs = longestPauseMs(this.#timeoutMs, this.#hasSession, rounds);
    const { signal } = this.#stopped;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.#clock.timer(this.#options.random() * longestMs, done);
      signal.addEventListener('abort', done);
    });
  }

  // -- Opening and ending

  #authenticate(connection: Connection): void {
    const { credentials } = this.#options;
    this.#authsDue = credentials.length;
    for (const entry of credentials) connection.authenticate(entry.scheme, entry.credentials);
    if (credentials.length === 0) this.#ready(connection);
  }

  #ready(connection: Connection): void {
    this.#restoreWatches(connection);
    connection.ready();
    this.#problems.clear(connection.endpoint.server);
    this.#enter('CONNECTED');
  }

  /**
   * Sets all watches again on a new connection. In response, the server immediately sends the events that
   * this client missed.
   */
  #restoreWatches(connection: Connection): void {
    const { OP_CODES, Request, protocol } = jute;
    for (const { data, existence, children } of watchFrames(this.watcherManager)) {
      const watches = new protocol.SetWatches(this.zxid, data, existence, children);
      watches.setChrootPath(this.chrootPath);
      const request = new Request(new protocol.RequestHeader(0, OP_CODES.SET_WATCHES), watches);
      connection.send(request, (error) => {
        if (error)
          connection.end(Failure.of('CONNECTION_LOSS', `cannot set watches again: ${error.message}`, error));
      });
    }
  }

  #sendClose(connection: Connection): void {
    connection.ready();
    const header = new jute.protocol.RequestHeader(0, jute.OP_CODES.CLOSE_SESSION);
    connection.send(new jute.Request(header, null), (error, response) => {
      // If no response arrives and there is time for another connection, that connection will show whether
      // the session is over.
      if (response && (error === null || isFatal(error))) this.#finish(true);
    });
  }

  /** Handles the end of a session that this side did not end. */
  #lose(failure: Failure): void {
    if (this.#ending) {
      this.#finish(true);
      return;
    }
    if (this.#over) return;
    this.#over = failure;
    this.#enter('LOST');
    this.#endConnection(failure);
  }

  #finish(confirmed: boolean): void {
    this.#endConnection(this.refusal);
    this.#ending?.settle(confirmed);
  }

  #endConnection(failure: Failure): void {
    this.#stopped.abort();
    this.#cancelTimer();
    this.#connection?.end(failure);
  }

  #enter(state: StoreState): void {
    this.#state = state;
    const session = `0x${hex(this.sessionId)}`;
    const fields = { state, session, sessionTimeoutMs: this.#negotiatedTimeoutMs };
    if (state === 'LOST') this.#logger.warn({ ...fields, err: this.#over }, 'ZooKeeper session lost');
    else if (state === 'SUSPENDED')
      this.#logger.warn({ ...fields, why: this.#problems.text }, 'ZooKeeper unreachable');
    else this.#logger.info(fields, `ZooKeeper session ${state.toLowerCase()}`);
    this.#outage.entered(state);
    this.#options.onState(state);
  }

  // -- Time

  get #timeoutMs(): number {
    return this.#negotiatedTimeoutMs || this.#options.sessionTimeoutMs;
  }

  get #hasSession(): boolean {
    return this.sessionId.some((byte) => byte !== 0);
  }

  #expiresAtMs(): number {
    return this.#lastContactAtMs + (this.#longestTimeoutMs || this.#timeoutMs) * expiryShare;
  }

  #armTimer(): void {
    this.#cancelTimer();
    if (this.#stopped.signal.aborted) return;
    const expiresAtMs = this.#over ? Number.POSITIVE_INFINITY : this.#expiresAtMs();
    const dueAtMs = Math.min(expiresAtMs, this.#connection?.nextNoticeAtMs ?? Number.POSITIVE_INFINITY);
    if (dueAtMs === Number.POSITIVE_INFINITY) return;
    this.#cancelTimer = this.#clock.timer(Math.max(0, dueAtMs - this.#clock.monotonicMs()), () => {
      this.notice();
      this.#armTimer();
    });
  }

  #note(server: Server, problem: string, text?: string): void {
    this.#problems.record(server, problem, text);
    const fields = { server: serverText(server), problem: text ?? problem };
    this.#logger.debug(fields, 'problem with a ZooKeeper server');
  }
}

/** Whether a reply with this failure means that the session is over, no matter what the server does next. */
function isFatal(failure: Failure): boolean {
  return failure.storeCode === 'SESSION_EXPIRED' || failure.storeCode === 'SESSION_CLOSED_REQUIRE_SASL_AUTH';
}

function hex(id: Buffer): string {
  return id.toString('hex');
}
