/**
 * Sends packets over TCP. Connections are kept open, so a round trip does not include the time to connect.
 * All packets have the same size, so they need no framing. No socket keeps the process alive.
 *
 * A client that connects must soon send a packet from a peer in the group. If it sends anything else, the
 * connection is closed. The number of connections without such a packet is limited, and so is the number of
 * connections from one peer. The oldest connection is closed first.
 */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Endpoint, endpointText } from './endpoint.js';
import { packetBytes, type Tag } from './packet.js';
import type { Address, OnPacket, OnSendError, Transport } from './transport.js';

const connectMs = 3_000;
/**
 * Milliseconds after which an unused connection is closed. This is longer than the interval between questions
 * on a connection in use.
 */
const idleMs = 90_000;
const provenWithinMs = 5_000;
const mostStrangers = 64;
const mostOfOnePeer = 4;

/** Opens the transport. Rejects if it cannot listen on the address. */
export async function openTcp(
  at: Endpoint,
  onPacket: OnPacket,
  onSendError: OnSendError,
): Promise<TcpTransport> {
  const { address } = await lookup(at.host);
  const server = createServer({ noDelay: true });
  const listening = once(server, 'listening');
  server.listen({ host: address, port: at.port, exclusive: true });
  await listening;
  return new TcpTransport(server, onPacket, onSendError);
}

export class TcpTransport implements Transport {
  readonly port: number;
  readonly #server: Server;
  readonly #onPacket: OnPacket;
  readonly #onSendError: OnSendError;
  /**
   * Incoming connections, oldest first, each with its proven peer. The peer is null until a packet proves its
   * identity.
   */
  readonly #accepted = new Map<Socket, Tag | null>();
  /** Outgoing connections, keyed by destination. */
  readonly #dialled = new Map<string, Socket>();
  #isClosed = false;

  constructor(server: Server, onPacket: OnPacket, onSendError: OnSendError) {
    const bound = server.address();
    this.port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    this.#server = server;
    this.#onPacket = onPacket;
    this.#onSendError = onSendError;
    server.unref();
    server.on('connection', (socket) => this.#accept(socket));
    server.on('error', (error) => onSendError(null, error));
  }

  send(to: Address, bytes: Buffer): boolean {
    if (this.#isClosed) return false;
    const key = endpointText(to);
    const socket = this.#dialled.get(key) ?? this.#dial(key, to);
    return sendNow(socket, bytes);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of [...this.#accepted.keys(), ...this.#dialled.values()]) socket.destroy();
    await closed;
  }

  #dial(key: string, to: Address): Socket {
    const socket = connect({ host: to.host, port: to.port, noDelay: true });
    this.#dialled.set(key, socket);
    socket.unref();
    socket.setTimeout(connectMs, () => {
      socket.destroy(socket.connecting ? new Error(`no connection within ${connectMs} ms`) : undefined);
    });
    socket.once('connect', () => socket.setTimeout(idleMs));
    socket.on('error', (error) => {
      if (!this.#isClosed) this.#onSendError(to, error);
    });
    socket.once('close', () => this.#dialled.delete(key));
    this.#read(socket, () => {});
    return socket;
  }

  #accept(socket: Socket): void {
    if (this.#isClosed) return void socket.destroy();
    this.#accepted.set(socket, null);
    this.#closeSurplus(null, mostStrangers);
    socket.unref();
    socket.setTimeout(provenWithinMs, () => socket.destroy());
    // Ignore errors on a stranger's connection: they do not concern this node.
    socket.on('error', () => {});
    socket.once('close', () => this.#accepted.delete(socket));
    this.#read(socket, (peer) => {
      if (this.#accepted.get(socket) === peer || !this.#accepted.has(socket)) return;
      this.#accepted.set(socket, peer);
      socket.setTimeout(idleMs);
      this.#closeSurplus(peer, mostOfOnePeer);
    });
  }

  #closeSurplus(owner: Tag | null, most: number): void {
    const owned = [...this.#accepted].filter(([, peer]) => peer === owner).map(([socket]) => socket);
    for (const socket of owned.slice(0, Math.max(0, owned.length - most))) socket.destroy();
  }

  #read(socket: Socket, proven: (peer: Tag) => void): void {
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (rest.length >= packetBytes && !socket.destroyed) {
        const peer = this.#onPacket(rest.subarray(0, packetBytes), 'tcp', (bytes) => sendNow(socket, bytes));
        rest = rest.subarray(packetBytes);
        if (peer === null) socket.destroy();
        else proven(peer);
      }
    });
  }
}

/**
 * Sends immediately or not at all. If the other side is not reading, nothing is sent, because the data would
 * have to wait and would arrive late.
 */
function sendNow(socket: Socket, bytes: Buffer): boolean {
  if (socket.connecting || !socket.writable || socket.writableLength > 0) return false;
  socket.write(bytes);
  return true;
}
