/**
 * A replicated service as Becker, Junqueira and Serafini (2011) describe it, over an emulated wide-area
 * network. Clients send requests to a server next to them, which forwards them to the leader. The leader
 * answers once a majority of all servers has accepted the request. Any server may act as the leader, so that
 * the latency under each leader is measured and not computed.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { z } from 'zod';
import type { WideArea } from '../support/wide-area.js';

const host = '127.0.0.1';

const messageSchema = z.object({
  kind: z.enum(['request', 'accept', 'accepted', 'done']),
  id: z.int(),
  /** The server to which the client sent its request. */
  at: z.string(),
  leader: z.string(),
});
type Message = z.infer<typeof messageSchema>;

interface Server {
  readonly name: string;
  readonly socket: Socket;
  readonly door: number;
  /** Times at which recent client requests arrived. */
  readonly requestsAtMs: number[];
}

/** Period over which the request rate is measured. */
const rateOverMs = 4_000;

export class ReplicatedService implements AsyncDisposable {
  readonly #servers = new Map<string, Server>();
  /** Number of servers in addition to the leader that must accept a request. */
  readonly #needsOthers: number;
  readonly #waiting = new Map<number, { accepted: number; answered(): void }>();
  #lastId = 0;

  /** `size` is the number of servers, including those that are down. */
  constructor(size: number) {
    this.#needsOthers = Math.floor(size / 2);
  }

  async start(name: string, area: WideArea): Promise<void> {
    const socket = createSocket('udp4');
    const listening = once(socket, 'listening');
    socket.bind(0, host);
    await listening;
    const server = { name, socket, door: await area.enter(name), requestsAtMs: [] };
    area.is(name, socket.address().port);
    this.#servers.set(name, server);
    socket.on('message', (bytes) => this.#take(server, messageSchema.parse(JSON.parse(String(bytes)))));
  }

  /**
   * Sends a request from a client next to `at`, with `leader` as the leader. Resolves with the latency of the
   * answer, in milliseconds.
   */
  request(at: string, leader: string): Promise<number> {
    const id = ++this.#lastId;
    const server = this.#server(at);
    const startedAtMs = performance.now();
    server.requestsAtMs.push(startedAtMs);
    return new Promise((resolve) => {
      const answered = () => {
        this.#waiting.delete(id);
        resolve(performance.now() - startedAtMs);
      };
      this.#waiting.set(id, { accepted: 0, answered });
      this.#send(server, leader, { kind: 'request', id, at, leader });
    });
  }

  /** Returns the recent client requests per second to a server. */
  rate(name: string): number {
    const { requestsAtMs } = this.#server(name);
    const sinceMs = performance.now() - rateOverMs;
    while ((requestsAtMs[0] ?? Number.POSITIVE_INFINITY) < sinceMs) requestsAtMs.shift();
    return requestsAtMs.length / (rateOverMs / 1000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = [...this.#servers.values()].map(
      ({ socket }) => new Promise<void>((done) => socket.close(done)),
    );
    await Promise.all(closing);
  }

  #take(server: Server, message: Message): void {
    const request = this.#waiting.get(message.id);
    if (message.kind === 'request') {
      for (const other of this.#servers.keys()) {
        if (other !== server.name) this.#send(server, other, { ...message, kind: 'accept' });
      }
    } else if (message.kind === 'accept') {
      this.#send(server, message.leader, { ...message, kind: 'accepted' });
    } else if (message.kind === 'accepted' && request !== undefined) {
      request.accepted += 1;
      if (request.accepted === this.#needsOthers)
        this.#send(server, message.at, { ...message, kind: 'done' });
    } else if (message.kind === 'done') {
      request?.answered();
    }
  }

  /** A message from a server to itself takes no time. */
  #send(from: Server, to: string, message: Message): void {
    if (to === from.name) this.#take(from, message);
    else from.socket.send(JSON.stringify(message), this.#server(to).door, host);
  }

  #server(name: string): Server {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`no server ${name}`);
    return server;
  }
}
