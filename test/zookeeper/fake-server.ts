/**
 * A scripted server that implements just enough of ZooKeeper's protocol to misbehave on purpose. It keeps no
 * znodes. By default, it grants every handshake, answers pings, confirms the end of sessions, and leaves
 * other requests unanswered.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import jute from 'node-zookeeper-client/lib/jute/index.js';
import { JuteReader, JuteWriter } from '../../src/embedded/jute.js';
import { FrameReader } from '../../src/zookeeper/frames.js';

export const op = jute.OP_CODES;

export interface Handshake {
  readonly lastZxidSeen: bigint;
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Buffer;
}

export interface Request {
  readonly xid: number;
  readonly type: number;
  /** Content of the request after its header. */
  readonly body: JuteReader;
}

export interface Script {
  readonly accepted?: (talk: Talk) => void;
  readonly handshake?: (talk: Talk, handshake: Handshake) => void;
  readonly ping?: (talk: Talk) => void;
  readonly close?: (talk: Talk) => void;
  /** Called for every request except a ping and a request to end the session. */
  readonly request?: (talk: Talk, request: Request) => void;
}

const password = Buffer.from('sixteen bytes...');
const nothing: Buffer = Buffer.alloc(0);

/** One connection to the fake server. */
export class Talk {
  /** Number of the connection in the order of arrival. The server's first one has the number 0. */
  readonly index: number;
  readonly requests: Request[] = [];
  handshake: Handshake | undefined;
  pings = 0;
  readonly #socket: Socket;

  constructor(index: number, socket: Socket, script: Script) {
    this.index = index;
    this.#socket = socket;
    const frames = new FrameReader();
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const frame of frames.push(chunk)) this.#frame(new JuteReader(frame), script);
    });
  }

  get open(): boolean {
    return !this.#socket.destroyed;
  }

  /** Types of the requests received so far, in order. */
  get types(): number[] {
    return this.requests.map(({ type }) => type);
  }

  grant({ sessionId = 7n, timeoutMs = 2000 } = {}): void {
    this.raw(handshakeAnswer({ sessionId, timeoutMs }));
  }

  expire(): void {
    this.raw(handshakeAnswer({ sessionId: 0n, timeoutMs: 0 }));
  }

  reply(xid: number, { error = 0, zxid = 1n, body = nothing } = {}): void {
    this.raw(reply(xid, { error, zxid, body }));
  }

  notify(type: number, path: string): void {
    const body = new JuteWriter().int(type).int(3).string(path).bytes();
    this.reply(jute.XID_NOTIFICATION, { zxid: -1n, body });
  }

  raw(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Sends all pending data, then closes the connection. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #frame(body: JuteReader, script: Script): void {
    if (this.handshake === undefined) {
      body.int();
      const [lastZxidSeen, timeoutMs, sessionId] = [body.long(), body.int(), body.long()];
      this.handshake = { lastZxidSeen, timeoutMs, sessionId, password: body.buffer() ?? Buffer.alloc(0) };
      if (script.handshake) script.handshake(this, this.handshake);
      else this.grant();
      return;
    }
    const request = { xid: body.int(), type: body.int(), body };
    if (request.type === op.PING) {
      this.pings += 1;
      if (script.ping) script.ping(this);
      else this.reply(jute.XID_PING);
      return;
    }
    this.requests.push(request);
    if (request.type !== op.CLOSE_SESSION) script.request?.(this, request);
    else if (script.close) script.close(this);
    else this.reply(request.xid);
  }
}

export class FakeServer implements AsyncDisposable {
  readonly talks: Talk[] = [];
  readonly #server: Server;

  private constructor(script: Script) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      const talk = new Talk(this.talks.length, socket, script);
      this.talks.push(talk);
      script.accepted?.(talk);
    });
  }

  static async start(script: Script = {}, { host = '127.0.0.1', port = 0 } = {}): Promise<FakeServer> {
    const fake = new FakeServer(script);
    fake.#server.listen(port, host);
    await once(fake.#server, 'listening');
    return fake;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get port(): number {
    return portOf(this.#server.address());
  }

  get open(): number {
    return this.talks.filter((talk) => talk.open).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const talk of this.talks) talk.destroy();
    await closed;
  }
}

export function handshakeAnswer({ sessionId, timeoutMs }: { sessionId: bigint; timeoutMs: number }): Buffer {
  return new JuteWriter().int(0).int(timeoutMs).long(sessionId).buffer(password).packet();
}

export function reply(xid: number, { error = 0, zxid = 1n, body = nothing } = {}): Buffer {
  return new JuteWriter().int(xid).long(zxid).int(error).raw(body).packet();
}

/** Bytes of a stat whose fields are all zero. */
export const emptyStat = Buffer.alloc(68);

/** Returns the body of an answer to a getData request. */
export function dataAnswer(data: Buffer | null): Buffer {
  return new JuteWriter().buffer(data).raw(emptyStat).bytes();
}

/** Returns the body of an answer to a multi that consists of checks. A check of `/bad` fails. */
export function multiAnswer(request: JuteReader): Buffer {
  const paths: string[] = [];
  for (let type = request.int(); !request.bool(); type = request.int()) {
    if (request.int() !== -1 || type !== op.CHECK) throw new Error('a multi of checks only');
    paths.push(request.string());
    request.int();
  }
  const failed = paths.includes('/bad');
  const writer = new JuteWriter();
  for (const path of paths) {
    writer
      .int(failed ? op.ERROR : op.CHECK)
      .bool(false)
      .int(0);
    if (failed) writer.int(path === '/bad' ? -103 : 0);
  }
  return writer.int(-1).bool(true).int(-1).bytes();
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}
