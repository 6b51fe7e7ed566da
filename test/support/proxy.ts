/**
 * A TCP proxy on the loopback interface that simulates network faults. A black hole keeps connections open
 * and holds the data until the fault is lifted, like a network whose packets are retransmitted. The proxy
 * works on streams: it cannot lose or reorder single packets. It cannot reach data in the kernel's buffers.
 */
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { closeServer, freePorts, listen, withFreePorts } from './ports.js';
import { Channel, type Impairment, noImpairment } from './proxy-channel.js';

const redialIntervalMs = 20;

/** `toServer` is the direction from a client to the target, `toClient` the opposite one. */
export type Direction = 'toServer' | 'toClient';
export type Directions = Direction | 'both';

export interface ProxyOptions {
  /** `host:port` of the server to which the proxy forwards. */
  readonly target: string;
  /** Port on 127.0.0.1 to listen on. Default: any free port. */
  readonly port?: number;
  /** Returns a function that rewrites the data of one client, chunk by chunk, as read from its socket. */
  readonly rewriter?: () => (chunk: Buffer) => Buffer | null;
  /**
   * Milliseconds for which a client waits while the target refuses connections, before it is reset. Default
   * 0.
   */
  readonly patienceMs?: number;
}

/** Starts a proxy. Resolves once it accepts connections. Rejects if the requested port is not free. */
export function startProxy(options: ProxyOptions): Promise<TcpProxy> {
  if (options.port !== undefined) return TcpProxy.listen(options, options.port);
  return withFreePorts(async () => {
    const [port = 0] = await freePorts(1);
    return TcpProxy.listen(options, port);
  });
}

export class TcpProxy implements AsyncDisposable {
  readonly port: number;
  readonly #options: ProxyOptions;
  readonly #connections = new Set<Connection>();
  #target: Address;
  #server: Server;
  #accepted = 0;
  #impairments: Impairments = { toServer: noImpairment, toClient: noImpairment };

  private constructor(options: ProxyOptions, port: number) {
    this.port = port;
    this.#target = parseAddress(options.target);
    this.#options = options;
    this.#server = this.#createServer();
  }

  static async listen(options: ProxyOptions, port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(options, port);
    await listen(proxy.#server, port);
    return proxy;
  }

  /** `127.0.0.1:port`, the address to which clients connect. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Number of connections accepted since the start. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Number of connections that are open on the client's side now. */
  get open(): number {
    return [...this.#connections].filter(({ client }) => !client.destroyed).length;
  }

  /** Forwards new connections to another address. Open connections keep their target. */
  retarget(address: string): void {
    this.#target = parseAddress(address);
  }

  /** Forwards nothing, but keeps every connection open and accepts new ones. */
  blackHole(directions: Directions = 'both'): void {
    this.#impair(directions, { blackHole: true });
  }

  /** Delays all data by `delayMs`. */
  delay(delayMs: number, directions: Directions = 'both'): void {
    this.#impair(directions, { delayMs });
  }

  /** Forwards at most `bytesPerSecond` on each connection. */
  throttle(bytesPerSecond: number, directions: Directions = 'both'): void {
    this.#impair(directions, { bytesPerSecond });
  }

  /**
   * Ends each connection after it has forwarded `bytes` more bytes (at least one). This cuts a message in the
   * middle.
   */
  cutAfter(bytes: number, directions: Directions = 'toClient'): void {
    this.#impair(directions, { cutAfterBytes: bytes });
  }

  /** Resets every open connection on both sides. New connections are accepted. */
  resetAll(): void {
    for (const connection of this.#connections) connection.reset();
  }

  /** Stops listening, so that new connections are refused. Open connections stay. */
  refuse(): void {
    this.#server.close();
  }

  /** Lifts every fault, and forwards the data that was held back. */
  async heal(): Promise<void> {
    this.#impair('both', noImpairment);
    if (this.#server.listening) return;
    this.#server = this.#createServer();
    await listen(this.#server, this.port);
  }

  async stop(): Promise<void> {
    const closed = closeServer(this.#server);
    this.resetAll();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #createServer(): Server {
    return createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  #accept(client: Socket): void {
    this.#accepted += 1;
    const connection = new Connection(client, () => this.#target, this.#options);
    this.#connections.add(connection);
    connection.onClosed(() => this.#connections.delete(connection));
    connection.impair(this.#impairments);
  }

  #impair(directions: Directions, change: Partial<Impairment>): void {
    const { toServer, toClient } = this.#impairments;
    this.#impairments = {
      toServer: directions === 'toClient' ? toServer : { ...toServer, ...change },
      toClient: directions === 'toServer' ? toClient : { ...toClient, ...change },
    };
    for (const connection of this.#connections) connection.impair(this.#impairments);
  }
}

type Impairments = Readonly<Record<Direction, Impairment>>;

class Connection {
  readonly client: Socket;
  readonly #options: ProxyOptions;
  readonly #target: () => Address;
  readonly #toServer = new Channel(() => this.reset());
  readonly #toClient = new Channel(() => this.reset());
  #server: Socket | undefined;
  #onServerClosed: () => void = () => undefined;

  constructor(client: Socket, target: () => Address, options: ProxyOptions) {
    this.client = client;
    this.#target = target;
    this.#options = options;
    this.#toServer.readFrom(client, options.rewriter?.());
    this.#toClient.writeTo(client);
  }

  impair({ toServer, toClient }: Impairments): void {
    this.#toServer.impair(toServer);
    this.#toClient.impair(toClient);
    if (!toServer.blackHole) this.#dialOnce();
  }

  /** Calls `listener` when both sides are closed. */
  onClosed(listener: () => void): void {
    const check = () => {
      if (this.client.closed && (this.#server === undefined || this.#server.closed)) listener();
    };
    this.client.once('close', check);
    this.#onServerClosed = check;
  }

  reset(): void {
    this.#toServer.discard();
    this.#toClient.discard();
    this.client.resetAndDestroy();
    this.#server?.resetAndDestroy();
  }

  /** A connection that is accepted during a black hole reaches the server only after the fault is lifted. */
  #dialOnce(): void {
    if (this.#server === undefined) this.#dial(performance.now() + (this.#options.patienceMs ?? 0));
  }

  #dial(untilMs: number): void {
    if (this.client.destroyed) return;
    const server = dial({ ...this.#target(), allowHalfOpen: true, noDelay: true });
    this.#server = server;
    let connected = false;
    server.once('connect', () => {
      connected = true;
      this.#toClient.readFrom(server);
      this.#toServer.writeTo(server);
    });
    server.on('error', () => {
      if (connected) return;
      if (performance.now() >= untilMs) this.#toClient.breakOff();
      else setTimeout(() => this.#dial(untilMs), redialIntervalMs);
    });
    server.once('close', () => this.#onServerClosed());
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Splits `host:port`. */
export function parseAddress(address: string): Address {
  const colon = address.lastIndexOf(':');
  const port = Number(address.slice(colon + 1));
  if (colon < 1 || !Number.isInteger(port)) throw new Error(`not of the form host:port: ${address}`);
  return { host: address.slice(0, colon), port };
}
