/**
 * A TCP proxy on the loopback interface that simulates network faults. A black hole keeps connections open
 * and holds what was sent until it is lifted, like a network whose packets are retransmitted. The proxy works
 * on streams: it cannot lose or reorder single packets, and it cannot reach what the kernel's buffers
 * contain.
 */
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { closeServer, freePorts, listen, withFreePorts } from './ports.js';
import { Channel, type Impairment, noImpairment } from './proxy-channel.js';

const redialIntervalMs = 20;

/** `toServer` is what clients send, `toClient` what they receive. */
export type Direction = 'toServer' | 'toClient';
export type Directions = Direction | 'both';

export interface ProxyOptions {
  /** `host:port` to forward to. */
  readonly target: string;
  /** The port to listen on, on 127.0.0.1. Default: any free one. */
  readonly port?: number;
  /** Returns a function that rewrites what one client sends, chunk by chunk, as read from its socket. */
  readonly rewriter?: () => (chunk: Buffer) => Buffer | null;
  /** How long a client waits while the target refuses, before it is reset. Default 0. */
  readonly patienceMs?: number;
}

/** Resolves once the proxy accepts connections. Rejects if the requested port is not free. */
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

  /** `127.0.0.1:port`, where clients connect. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Connections accepted since the start. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Connections open on the client's side now. */
  get open(): number {
    return [...this.#connections].filter(({ client }) => !client.destroyed).length;
  }

  /** Forwards new connections elsewhere. Open ones keep their target. */
  retarget(address: string): void {
    this.#target = parseAddress(address);
  }

  /** Keeps every connection open, accepts new ones, and forwards nothing. */
  blackHole(directions: Directions = 'both'): void {
    this.#impair(directions, { blackHole: true });
  }

  /** Forwards everything this much later. */
  delay(delayMs: number, directions: Directions = 'both'): void {
    this.#impair(directions, { delayMs });
  }

  /** Forwards at most this much a second, on each connection. */
  throttle(bytesPerSecond: number, directions: Directions = 'both'): void {
    this.#impair(directions, { bytesPerSecond });
  }

  /**
   * Each connection forwards this many more bytes (at least one) and then ends, which cuts a message in its
   * middle.
   */
  cutAfter(bytes: number, directions: Directions = 'toClient'): void {
    this.#impair(directions, { cutAfterBytes: bytes });
  }

  /** Resets every open connection, on both sides. New ones are accepted. */
  resetAll(): void {
    for (const connection of this.#connections) connection.reset();
  }

  /** Stops listening, so that new connections are refused. Open ones stay. */
  refuse(): void {
    this.#server.close();
  }

  /** Lifts every fault, and forwards what was held back. */
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

  /** A connection accepted during a black hole reaches the server only once that is lifted. */
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
