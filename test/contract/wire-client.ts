/**
 * A minimal ZooKeeper client for tests that no client library can serve. It can choose a session's password,
 * send any request at any time, and see every reply as it arrived. It does not reconnect, ping or retry.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { JuteReader, JuteWriter } from '../../src/embedded/jute.js';
import {
  authOpcode,
  type Opcode,
  opcodes,
  readAcl,
  writeAcl,
  writeStrings,
} from '../../src/embedded/records.js';
import type { Stat } from '../../src/embedded/tree.js';
import { type Acl, openAcl } from '../../src/model/acl.js';
import {
  type CreateOptions,
  type MultiOperation,
  type MultiResult,
  type ReadOpcode,
  type Reply,
  readMultiResults,
  readReadResults,
  readReply,
  readStat,
  toBuffer,
  writeCreate,
} from './wire-records.js';

export interface Handshake {
  readonly timeoutMs?: number;
  readonly sessionId?: bigint;
  readonly password?: Buffer;
  readonly lastZxidSeen?: bigint;
  /**
   * Whether the handshake contains the read-only flag. False imitates a client older than 3.4. The default is
   * true.
   */
  readonly readOnlyFlag?: boolean;
}

export interface Event {
  readonly type: number;
  readonly path: string;
}

export const eventTypes = { created: 1, deleted: 2, dataChanged: 3, childrenChanged: 4 } as const;

/** Thrown if the server closes the connection instead of replying. */
export class Disconnected extends Error {}

export class WireClient implements AsyncDisposable {
  /** All notifications received so far, oldest first. */
  readonly events: Event[] = [];
  /** The xids of all packets since the handshake, in order of arrival. A notification has the xid -1. */
  readonly xids: number[] = [];
  sessionId = 0n;
  password: Buffer = Buffer.alloc(0);
  timeoutMs = 0;
  readonly #socket: Socket;
  readonly #waiting: { resolve: (packet: JuteReader) => void; reject: (error: Error) => void }[] = [];
  #pending = Buffer.alloc(0);
  #xid = 0;
  #shakingHands = true;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#receive(bytes));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const { reject } of this.#waiting.splice(0))
        reject(new Disconnected('the server closed the connection'));
    });
  }

  /** Opens a TCP connection without sending anything. */
  static async dial(address: string): Promise<WireClient> {
    const colon = address.lastIndexOf(':');
    const socket = connect(Number(address.slice(colon + 1)), address.slice(0, colon));
    const client = new WireClient(socket);
    await once(socket, 'connect');
    return client;
  }

  /** Opens a client with a session. If the server grants no session, `sessionId` is 0n. */
  static async connect(address: string, handshake: Handshake = {}): Promise<WireClient> {
    const client = await WireClient.dial(address);
    await client.shakeHands(handshake);
    return client;
  }

  get closed(): boolean {
    return this.#socket.closed;
  }

  async shakeHands(handshake: Handshake): Promise<void> {
    const { timeoutMs = 10_000, sessionId = 0n, password = Buffer.alloc(16), lastZxidSeen = 0n } = handshake;
    const request = new JuteWriter()
      .int(0)
      .long(lastZxidSeen)
      .int(timeoutMs)
      .long(sessionId)
      .buffer(password);
    if (handshake.readOnlyFlag ?? true) request.bool(false);
    this.sendRaw(request.packet());
    const response = await this.#nextPacket();
    response.int();
    this.timeoutMs = response.int();
    this.sessionId = response.long();
    this.password = response.buffer() ?? Buffer.alloc(0);
    this.#shakingHands = false;
  }

  /**
   * Waits, without sending a request, for the connection to end. The promise rejects when the connection
   * ends, or if a packet arrives.
   */
  async receiveNothing(): Promise<never> {
    await this.#nextPacket();
    throw new Error('the server sent something unrequested');
  }

  sendRaw(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  async request(
    opcode: Opcode | number,
    write: (writer: JuteWriter) => unknown = () => undefined,
  ): Promise<Reply> {
    this.#xid += 1;
    const writer = new JuteWriter().int(this.#xid).int(typeof opcode === 'number' ? opcode : opcodes[opcode]);
    write(writer);
    this.sendRaw(writer.packet());
    return readReply(await this.#nextPacket());
  }

  async ping(): Promise<Reply> {
    this.sendRaw(new JuteWriter().int(-2).int(opcodes.ping).packet());
    return readReply(await this.#nextPacket());
  }

  async authenticate(scheme: string, credentials: string): Promise<Reply> {
    const packet = new JuteWriter().int(-4).int(authOpcode).int(0).string(scheme);
    this.sendRaw(packet.buffer(Buffer.from(credentials)).packet());
    return readReply(await this.#nextPacket());
  }

  async create(path: string, { data = '', acl = openAcl, flags = 0 }: CreateOptions = {}): Promise<Reply> {
    return this.request('create', (writer) => writeCreate(writer, path, { data, acl, flags }));
  }

  async create2(path: string, options: CreateOptions = {}): Promise<Reply> {
    return this.request('create2', (writer) => writeCreate(writer, path, options));
  }

  async createTtl(path: string, ttlMs: number): Promise<Reply> {
    const flags = 5;
    return this.request('createTTL', (writer) => writeCreate(writer, path, { flags }).long(BigInt(ttlMs)));
  }

  async delete(path: string, version = -1): Promise<Reply> {
    return this.request('delete', (writer) => writer.string(path).int(version));
  }

  async setData(path: string, data: string | null, version = -1): Promise<Reply> {
    return this.request('setData', (writer) => writer.string(path).buffer(toBuffer(data)).int(version));
  }

  async read(opcode: ReadOpcode, path: string, watch = false): Promise<Reply> {
    return this.request(opcode, (writer) => writer.string(path).bool(watch));
  }

  async stat(path: string): Promise<Stat> {
    const reply = await this.read('exists', path);
    if (reply.error !== 'OK') throw new Error(`exists ${path}: ${reply.error}`);
    return readStat(reply.body);
  }

  async children(path: string): Promise<string[]> {
    const { body } = await this.read('getChildren', path);
    return body.vector(() => body.string()).sort();
  }

  async setAcl(path: string, acl: Acl, version = -1): Promise<Reply> {
    return this.request('setACL', (writer) => writeAcl(writer.string(path), acl).int(version));
  }

  async getAcl(path: string): Promise<{ error: Reply['error']; acl: Acl }> {
    const { error, body } = await this.request('getACL', (writer) => writer.string(path));
    return { error, acl: error === 'OK' ? readAcl(body) : [] };
  }

  async multi(
    operations: readonly MultiOperation[],
  ): Promise<{ error: Reply['error']; results: MultiResult[] }> {
    const { error, body } = await this.request('multi', (writer) => {
      for (const { opcode, write } of operations) write(writer.int(opcodes[opcode]).bool(false).int(-1));
      writer.int(-1).bool(true).int(-1);
    });
    return { error, results: error === 'OK' ? readMultiResults(body) : [] };
  }

  async multiRead(reads: readonly ['getData' | 'getChildren', string][]): Promise<unknown[]> {
    const { body } = await this.request('multiRead', (writer) => {
      for (const [opcode, path] of reads) {
        writer.int(opcodes[opcode]).bool(false).int(-1).string(path).bool(false);
      }
      writer.int(-1).bool(true).int(-1);
    });
    return readReadResults(body);
  }

  async setWatches(
    seenZxid: bigint,
    paths: { data?: string[]; exist?: string[]; children?: string[] },
  ): Promise<Reply> {
    return this.request('setWatches', (writer) => {
      writer.long(seenZxid);
      for (const list of [paths.data, paths.exist, paths.children]) writeStrings(writer, list ?? []);
    });
  }

  async setWatches2(seenZxid: bigint, paths: { persistent: string[]; recursive: string[] }): Promise<Reply> {
    return this.request('setWatches2', (writer) => {
      writer.long(seenZxid);
      for (const list of [[], [], [], paths.persistent, paths.recursive]) writeStrings(writer, list);
    });
  }

  async addWatch(path: string, mode: 'persistent' | 'recursive'): Promise<Reply> {
    return this.request('addWatch', (writer) => writer.string(path).int(mode === 'persistent' ? 0 : 1));
  }

  async removeWatches(path: string, kind: 'children' | 'data' | 'any'): Promise<Reply> {
    const kinds = { children: 1, data: 2, any: 3 };
    return this.request('removeWatches', (writer) => writer.string(path).int(kinds[kind]));
  }

  /** Ends the session. */
  async closeSession(): Promise<Reply> {
    return this.request('closeSession');
  }

  /** Ends the session if possible. Closes the connection in any case. */
  async leave(): Promise<void> {
    if (this.sessionId !== 0n && !this.closed) await this.closeSession().catch(() => undefined);
    await this.disconnect();
  }

  /** Breaks the connection, but does not end the session. */
  async disconnect(): Promise<void> {
    this.#socket.destroy();
    if (!this.#socket.closed) await once(this.#socket, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
  }

  #nextPacket(): Promise<JuteReader> {
    return new Promise((resolve, reject) => {
      if (this.#socket.closed) reject(new Disconnected('the connection is closed'));
      else this.#waiting.push({ resolve, reject });
    });
  }

  #receive(bytes: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    while (this.#pending.length >= 4) {
      const end = 4 + this.#pending.readInt32BE();
      if (this.#pending.length < end) return;
      this.#packet(this.#pending.subarray(4, end));
      this.#pending = this.#pending.subarray(end);
    }
  }

  #packet(packet: Buffer): void {
    if (!this.#shakingHands) this.xids.push(packet.readInt32BE());
    if (!this.#shakingHands && packet.readInt32BE() === -1) {
      const reader = readReply(new JuteReader(packet)).body;
      const type = reader.int();
      reader.int();
      this.events.push({ type, path: reader.string() });
      return;
    }
    this.#waiting.shift()?.resolve(new JuteReader(packet));
  }
}
