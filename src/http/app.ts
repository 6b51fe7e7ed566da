/**
 * The HTTP server, with its limits and the headers of every response. It finds the route for each request,
 * and checks the parts of the request that the route accepts. Other modules define the routes.
 */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createSocketServer, type Socket, type Server as SocketServer } from 'node:net';
import { parse as parseQuery } from 'node:querystring';
import type { SecureContextOptions } from 'node:tls';
import * as z from 'zod';
import type { ListenAddress } from '../config/listen.js';
import type { Logger } from '../log.js';
import { limitConnections } from './connections.js';
import { answerBrokenRequest, answerError, invalid, notFound } from './failures.js';
import { commonHeaders } from './headers.js';
import { readJson } from './read-json.js';
import {
  type Answer,
  type Described,
  type Head,
  type Place,
  paramsAt,
  type Responses,
  type Route,
} from './route.js';

/** TLS certificate and private key, in PEM format. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const limits = {
  maxHeaderSize: 8 * 1024,
  /** Time limits, in milliseconds, for receiving the headers of a request and the whole request. */
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 60_000,
} as const;
const handshakeMs = 5_000;
/** Maximum number of pipelined requests that may wait on one connection. */
const maxWaiting = 32;
/** A connection without any traffic for this time is closed. */
const silenceMs = 75_000;

/** The parts of a request that a route checks. */
interface Parts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** A registered route, without the types of its parameters, query and body. */
interface KnownRoute extends Described {
  readonly authorize: (head: Head) => void;
  readonly takesBody: boolean;
  readonly answer: (head: Head, parts: Parts) => Answer | Promise<Answer>;
}

/** Throws to reject a request. `place` is the request's route, or null if there is no such route. */
export type Check = (head: Head, place: Place | null) => void;

export class App {
  readonly server: Server;
  readonly #log: Logger;
  readonly #routes: KnownRoute[] = [];
  readonly #checks: Check[] = [];
  /** Servers for further addresses of the same host name. */
  readonly #others: SocketServer[] = [];

  /**
   * Creates a server without routes. The server does not listen yet. Throws if the certificate is unusable.
   */
  constructor(log: Logger, certificate: Certificate | null) {
    this.#log = log;
    this.server = createLimited(
      inTurn((...exchange) => void this.#serve(...exchange)),
      certificate,
    );
    this.server.on('clientError', answerBrokenRequest);
  }

  get routes(): readonly Described[] {
    return this.#routes;
  }

  add<Params, Query, Body>(route: Route<Params, Query, Body>): void {
    this.#routes.push({
      ...route,
      authorize: route.authorize ?? (() => {}),
      takesBody: !(route.body instanceof z.ZodUnknown),
      answer: (head, { params, query, body }) =>
        route.answer({
          ...head,
          params: valid('params', route.params, params),
          body: valid('body', route.body, body),
          query: valid('query', route.query, query),
        }),
    });
  }

  /** Adds a check that applies to every request. The checks run before the route handles the request. */
  addCheck(check: Check): void {
    this.#checks.push(check);
  }

  /** Resolves once the server is listening. */
  async listen({ host, port }: ListenAddress): Promise<void> {
    // Listen on all addresses of localhost, because clients may use any of them.
    const isName = host.toLowerCase() === 'localhost';
    const found = isName ? await lookup(host, { all: true }) : [];
    const [first = host, ...others] = found.map(({ address }) => address);
    this.server.listen({ host: first, port });
    await once(this.server, 'listening');
    const address = this.server.address();
    for (const other of new Set(others)) {
      const server = createSocketServer((socket) => this.server.emit('connection', socket));
      server.on('error', (error) => this.#log.debug({ error }, `HTTP: not listening on ${other}`));
      server.listen({ host: other, port: typeof address === 'object' ? address?.port : port });
      this.#others.push(server);
    }
  }

  /** Ends every connection. Never rejects. */
  async close(): Promise<void> {
    for (const other of this.#others) other.close();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  /**
   * Answers a request. If the route reads no body and its answer is not a promise, nothing is awaited. The
   * answer is then written in the same event-loop turn in which it is created.
   */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers, socket } = request;
    const head: Head = { method, url, headers, ip: socket.remoteAddress ?? '' };
    response.once('finish', () => this.#logged(head, response.statusCode));
    try {
      const [path = '', search = ''] = url.split(/\?(.*)/s);
      const found = this.#find(method, path);
      for (const check of this.#checks) check(head, found?.route ?? null);
      if (found === null) throw notFound(head, this.#routes);
      const { route, params } = found;
      route.authorize(head);
      const body = route.takesBody ? await readJson(request) : undefined;
      const answer = route.answer(head, { params, query: parseQuery(search), body });
      write(response, answer instanceof Promise ? await answer : answer, route.responses);
    } catch (error) {
      if (socket.destroyed) return;
      if (response.headersSent) response.destroy();
      else write(response, answerError(this.#log, error, head), {});
    }
  }

  #find(method: string, path: string): { route: KnownRoute; params: Parts['params'] } | null {
    for (const route of this.#routes) {
      const params = route.methods.includes(method) ? paramsAt(route, path) : null;
      if (params !== null) return { route, params };
    }
    return null;
  }

  #logged({ method, url, ip }: Head, status: number): void {
    if (!this.#log.isLevelEnabled('debug')) return;
    this.#log.debug({ method, url, ip, status }, `HTTP: ${method} ${url}: ${status}`);
  }
}

function valid<T>(part: keyof Parts, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (!result.success) throw invalid(part, result.error);
  return result.data;
}

/** Writes an answer. JSON that does not match its schema is a defect in Petrel, and is not sent. */
function write(response: ServerResponse, answer: Answer, responses: Responses): void {
  if ('stream' in answer) {
    answer.stream(response);
    return;
  }
  const { status = 200, headers = {} } = answer;
  const schema = responses[status];
  const content =
    'content' in answer
      ? answer.content
      : JSON.stringify(schema instanceof z.ZodType ? z.encode(schema, answer.json) : answer.json);
  const type = 'json' in answer ? { 'content-type': 'application/json; charset=utf-8' } : {};
  const length = status === 304 ? {} : { 'content-length': Buffer.byteLength(content) };
  response.writeHead(status, { ...commonHeaders, ...type, ...length, ...headers });
  response.end(content);
}

/**
 * Returns the TLS options for a certificate. They are used for a new server, or to replace the certificate of
 * a running server.
 */
export function secured(certificate: Certificate): SecureContextOptions {
  return { ...certificate, minVersion: 'TLSv1.2' };
}

function createLimited(listener: RequestListener, certificate: Certificate | null): Server {
  const server =
    certificate === null
      ? createServer(limits, listener)
      : createSecureServer({ ...limits, handshakeTimeout: handshakeMs, ...secured(certificate) }, listener);
  limitConnections(server);
  server.setTimeout(silenceMs);
  return server;
}

/**
 * Delays pipelined requests. A response is computed only after the earlier responses on its connection have
 * been sent, so it is current when it is sent. A connection with too many waiting requests is destroyed.
 */
function inTurn(listener: (request: IncomingMessage, response: ServerResponse) => void): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  const count = (socket: Socket, more: number) => {
    const now = (waiting.get(socket) ?? 0) + more;
    waiting.set(socket, now);
    return now;
  };
  return (request, response) => {
    const { socket } = request;
    if (response.socket !== null) listener(request, response);
    else if (count(socket, 1) > maxWaiting) socket.destroy();
    else {
      response.once('socket', () => {
        count(socket, -1);
        listener(request, response);
      });
    }
  };
}
