/**
 * One connection to one server, from dialling to its end: framing, the handshake, requests and their replies,
 * and pings. This object owns all state of its socket. Nothing from an old connection (half a frame, a late
 * event, a reply) can therefore reach the next one.
 *
 * Timers are not trusted: `notice` compares the clock with the times of the last send and the last receipt.
 * It ends a connection that has been silent for too long, even if its socket seems healthy or the process was
 * frozen.
 */
import jute from 'node-zookeeper-client/lib/jute/index.js';
import { errorMessage } from '../errors.js';
import { pingIntervalMs } from '../lease/lease.js';
import { quoted } from '../model/outside.js';
import type { Clock } from '../ports/clock.js';
import { decode } from './decode.js';
import type { Dial, Endpoint, Wire } from './dial.js';
import { Failure } from './failure.js';
import { FrameReader } from './frames.js';

export type ReplyCallback = (error: Failure | null, response?: jute.Response) => void;

/**
 * The reply to a request. Instants are on the clock's monotonic scale. `sentAtMs` was read from the clock
 * before the bytes were passed to the socket.
 */
export interface Answer {
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  /** Whether the request was a write that succeeded. */
  readonly committed: boolean;
}

/** Receives reports from a connection, synchronously. */
export interface ConnectionOwner {
  /** Returns the connect request to send once the socket is open. */
  handshake(): jute.ConnectRequest;
  handshakeAnswered(connection: Connection, response: jute.ConnectResponse, sentAtMs: number): void;
  authAnswered(connection: Connection, error: Failure | null): void;
  answered(answer: Answer): void;
  /** Reports the zxid (transaction id) of a reply. */
  zxidSeen(zxid: Buffer): void;
  notified(event: jute.WatcherEvent): void;
  /**
   * Reports the end of the connection. This is the last report, and it is made only once. Every unanswered
   * request has already failed with this failure.
   */
  ended(connection: Connection, failure: Failure): void;
}

export interface ConnectionOptions {
  readonly endpoint: Endpoint;
  readonly dial: Dial;
  readonly isSecure: boolean;
  readonly clock: Clock;
  readonly chroot: string | undefined;
  /** Deadline for opening the connection, including handshake and authentication. */
  readonly openByMs: number;
  readonly owner: ConnectionOwner;
}

interface Pending {
  readonly xid: number;
  readonly type: number;
  readonly sentAtMs: number;
  readonly callback: ReplyCallback;
}

const { OP_CODES: op, protocol } = jute;

const replyPayloads: ReadonlyMap<number, () => jute.Record | null> = new Map<
  number,
  () => jute.Record | null
>([
  [op.CREATE, () => new protocol.CreateResponse()],
  [op.DELETE, () => null],
  [op.EXISTS, () => new protocol.ExistsResponse()],
  [op.GET_DATA, () => new protocol.GetDataResponse()],
  [op.SET_DATA, () => new protocol.SetDataResponse()],
  [op.GET_ACL, () => new protocol.GetACLResponse()],
  [op.SET_ACL, () => new protocol.SetACLResponse()],
  [op.GET_CHILDREN2, () => new protocol.GetChildren2Response()],
  [op.SYNC, () => null],
  [op.MULTI, () => new jute.TransactionResponse()],
  [op.SET_WATCHES, () => null],
  [op.CLOSE_SESSION, () => null],
]);

const writes: ReadonlySet<number> = new Set([op.CREATE, op.DELETE, op.SET_DATA, op.MULTI]);

const silenceShare = 2 / 3;
const maxXid = 2 ** 31 - 1;

/**
 * Returns the request number that follows `xid`. Request numbers are positive 32-bit integers. The number
 * after the largest is 1.
 */
export function nextXid(xid: number): number {
  return xid >= maxXid ? 1 : xid + 1;
}

export class Connection {
  readonly endpoint: Endpoint;
  /** Resolves after the connection has ended. */
  readonly closed: Promise<void>;
  #resolveClosed: () => void = () => {};
  #problem: string | null = null;
  readonly #clock: Clock;
  readonly #owner: ConnectionOwner;
  readonly #chroot: string | undefined;
  readonly #openByMs: number;
  readonly #unanswered: string;
  readonly #wire: Wire;
  readonly #frames = new FrameReader();
  #handshakeSentAtMs: number | undefined;
  #accepted = false;
  #readyAtMs: number | undefined;
  #over = false;
  #sessionTimeoutMs = 0;
  #xid = 0;
  #pending: Pending[] = [];
  #pingsSentAtMs: number[] = [];
  #authsSentAtMs: number[] = [];
  #lastSentAtMs: number;
  #lastReceivedAtMs: number;

  constructor(options: ConnectionOptions) {
    this.endpoint = options.endpoint;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#clock = options.clock;
    this.#owner = options.owner;
    this.#chroot = options.chroot;
    this.#openByMs = options.openByMs;
    const port = options.isSecure ? 'may not support TLS' : 'may accept only TLS';
    this.#unanswered = `to the handshake (the server may not be serving yet, or its port ${port})`;
    this.#lastSentAtMs = this.#lastReceivedAtMs = options.clock.monotonicMs();
    this.#wire = options.dial(options.endpoint, {
      opened: () => this.#contain(() => this.#opened()),
      received: (chunk) => this.#contain(() => this.#received(chunk)),
      closed: () => this.#lose(this.#accepted ? closed : `${closed} without a response ${this.#unanswered}`),
      failed: (why, cause) => this.#lose(why, cause),
    });
  }

  /**
   * Whether the handshake was sent. If it was, the ensemble may have opened a session for this connection.
   */
  get handshakeSent(): boolean {
    return this.#handshakeSentAtMs !== undefined;
  }

  /** Whether the ensemble granted a session. */
  get accepted(): boolean {
    return this.#accepted;
  }

  /** Reason why the connection was lost. Does not contain the server's address. Null if it was not lost. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Milliseconds since the connection became ready. 0 if it has never been ready. */
  get stoodMs(): number {
    return this.#readyAtMs === undefined ? 0 : this.#clock.monotonicMs() - this.#readyAtMs;
  }

  /** Records that the server answered the handshake with a session. Pings start now. */
  accept(sessionTimeoutMs: number): void {
    this.#accepted = true;
    this.#sessionTimeoutMs = sessionTimeoutMs;
  }

  /**
   * Records that authentication and watches were sent. They must precede all requests. The deadline for
   * opening no longer applies.
   */
  ready(): void {
    this.#readyAtMs = this.#clock.monotonicMs();
  }

  authenticate(scheme: string, credentials: string): void {
    const packet = new protocol.AuthPacket(0, scheme, Buffer.from(credentials));
    const header = new protocol.RequestHeader(jute.XID_AUTHENTICATION, op.AUTH);
    this.#authsSentAtMs.push(this.#write(new jute.Request(header, packet).toBuffer()));
  }

  /** Sends the request immediately. Calls the callback exactly once. */
  send(request: jute.Request, callback: ReplyCallback): void {
    const { header } = request;
    if (header === null) throw new TypeError('a request needs a header');
    header.xid = nextXid(this.#xid);
    const frame = request.toBuffer();
    this.#xid = header.xid;
    const sentAtMs = this.#clock.monotonicMs();
    this.#pending.push({ xid: header.xid, type: header.type, sentAtMs, callback });
    this.#write(frame);
  }

  /**
   * Checks the clock. Ends the connection if the server was silent for too long, and sends a ping if one is
   * due.
   */
  notice(): void {
    if (this.#over) return;
    const now = this.#clock.monotonicMs();
    if (this.#readyAtMs === undefined && now >= this.#openByMs)
      this.#lose(`no response in time ${this.#unanswered}`);
    else if (!this.#accepted) return;
    else if (now >= this.#silentAtMs())
      this.#lose(`nothing received for ${since(now, this.#lastReceivedAtMs)}`);
    else if (now >= this.#overdueAtMs())
      this.#lose(`no response to a request for ${since(now, this.#oldestSentAtMs())}`);
    else if (now >= this.#pingAtMs()) this.#ping();
  }

  /** The instant at which `notice` must be called next. */
  get nextNoticeAtMs(): number {
    const openBy = this.#readyAtMs === undefined ? this.#openByMs : Number.POSITIVE_INFINITY;
    if (!this.#accepted) return openBy;
    return Math.min(openBy, this.#silentAtMs(), this.#overdueAtMs(), this.#pingAtMs());
  }

  /** Destroys the stream and fails all unanswered requests. Further calls do nothing. */
  end(failure: Failure): void {
    if (this.#over) return;
    this.#over = true;
    this.#wire.destroy();
    const unanswered = this.#pending;
    this.#pending = [];
    for (const { callback } of unanswered) callback(failure);
    this.#owner.ended(this, failure);
    this.#resolveClosed();
  }

  #lose(why: string, cause?: unknown): void {
    if (this.#over) return;
    this.#problem = why;
    const { server, address } = this.endpoint;
    const where =
      server.host === address
        ? `${address} port ${server.port}`
        : `${server.host} (${address}) port ${server.port}`;
    this.end(Failure.of('CONNECTION_LOSS', `connection to ${where}: ${why}`, cause));
  }

  #contain(step: () => void): void {
    if (this.#over) return;
    try {
      step();
    } catch (error) {
      this.#lose(`invalid data from the server: ${errorMessage(error)}`, error);
    }
  }

  #silentAtMs(): number {
    return this.#lastReceivedAtMs + this.#sessionTimeoutMs * silenceShare;
  }

  #pingAtMs(): number {
    return this.#lastSentAtMs + pingIntervalMs(this.#sessionTimeoutMs);
  }

  /**
   * Returns when the oldest unanswered request will be overdue. A server that still sends data but answers no
   * request counts as silent.
   */
  #overdueAtMs(): number {
    return this.#oldestSentAtMs() + this.#sessionTimeoutMs;
  }

  #oldestSentAtMs(): number {
    const oldest = this.#pending[0]?.sentAtMs ?? Number.POSITIVE_INFINITY;
    return Math.min(oldest, this.#pingsSentAtMs[0] ?? Number.POSITIVE_INFINITY);
  }

  #ping(): void {
    const header = new protocol.RequestHeader(jute.XID_PING, op.PING);
    this.#pingsSentAtMs.push(this.#write(new jute.Request(header, null).toBuffer()));
  }

  /** Writes the frame. Returns an instant that is not later than the write. */
  #write(frame: Buffer): number {
    this.#lastSentAtMs = this.#clock.monotonicMs();
    this.#wire.write(frame);
    return this.#lastSentAtMs;
  }

  #opened(): void {
    const frame = new jute.Request(null, this.#owner.handshake()).toBuffer();
    this.#handshakeSentAtMs = this.#write(frame);
  }

  #received(chunk: Buffer): void {
    // Check the clock first. Data received while this process was frozen must not make the connection look
    // alive.
    this.notice();
    if (this.#over) return;
    this.#lastReceivedAtMs = this.#clock.monotonicMs();
    for (const frame of this.#frames.push(chunk)) {
      if (this.#over) return;
      if (this.#accepted) this.#reply(frame);
      else this.#handshakeReply(frame);
    }
  }

  #handshakeReply(frame: Buffer): void {
    const response = new protocol.ConnectResponse();
    decode(response, frame, 0);
    if (response.timeOut > 0) checkSession(response);
    if (this.#handshakeSentAtMs === undefined) throw new Error('a response before the handshake');
    this.#owner.handshakeAnswered(this, response, this.#handshakeSentAtMs);
  }

  #reply(frame: Buffer): void {
    const header = new protocol.ReplyHeader();
    const offset = decode(header, frame, 0);
    if (header.xid === jute.XID_PING) this.#answered(this.#pingsSentAtMs.shift());
    else if (header.xid === jute.XID_AUTHENTICATION) this.#authReply(header);
    else if (header.xid === jute.XID_NOTIFICATION) this.#notification(frame, offset);
    else this.#requestReply(header, frame, offset);
  }

  #authReply(header: jute.ReplyHeader): void {
    this.#answered(this.#authsSentAtMs.shift());
    this.#owner.authAnswered(this, header.err === 0 ? null : Failure.answered(header.err));
  }

  #notification(frame: Buffer, offset: number): void {
    const event = new protocol.WatcherEvent();
    event.setChrootPath(this.#chroot);
    decode(event, frame, offset);
    if (event.path && !event.path.startsWith('/'))
      throw new Error(`a watch event for ${quoted(event.path)}, which is not a valid path`);
    this.#owner.notified(event);
  }

  #requestReply(header: jute.ReplyHeader, frame: Buffer, offset: number): void {
    const [request] = this.#pending;
    if (request?.xid !== header.xid) {
      throw new Error(
        `a response to request ${header.xid}, but the next expected response is to request ${request?.xid ?? 'none'}`,
      );
    }
    const payload = header.err === 0 ? this.#payload(request.type, frame, offset) : null;
    this.#pending.shift();
    this.#owner.zxidSeen(header.zxid);
    const committed = header.err === 0 && writes.has(request.type) && succeeded(payload);
    this.#answered(request.sentAtMs, committed);
    request.callback(
      header.err === 0 ? null : Failure.answered(header.err),
      new jute.Response(header, payload),
    );
  }

  #payload(type: number, frame: Buffer, offset: number): jute.Record | null {
    const create = replyPayloads.get(type);
    if (create === undefined) throw new Error(`a response to a request of unknown type ${type}`);
    const payload = create();
    if (payload === null) return null;
    payload.setChrootPath(this.#chroot);
    decode(payload, frame, offset);
    return payload;
  }

  #answered(sentAtMs: number | undefined, committed = false): void {
    if (sentAtMs === undefined) throw new Error('a response without a request');
    this.#owner.answered({ sentAtMs, answeredAtMs: this.#clock.monotonicMs(), committed });
  }
}

const closed = 'the server closed the connection';

function since(now: number, then: number): string {
  return `${Math.round(now - then)} ms`;
}

const passwordBytes = 16;

/**
 * Throws if the session has no id. Such a session could not be resumed, because a zero id means "no session".
 */
function checkSession({ sessionId, passwd }: jute.ConnectResponse): void {
  if (sessionId.every((byte) => byte === 0)) throw new Error('a session without an id');
  if (passwd !== undefined && passwd.length !== passwordBytes)
    throw new Error(`a session password of ${passwd.length} bytes, expected ${passwordBytes}`);
}

/**
 * Whether the request succeeded. Even if a multi failed, the header of its reply contains no error. The error
 * is among the results.
 */
function succeeded(payload: jute.Record | null): boolean {
  return !(payload instanceof jute.TransactionResponse) || payload.results.every((result) => !result.err);
}
