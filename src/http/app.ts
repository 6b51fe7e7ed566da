/**
 * Creates the HTTP server, with its limits and the headers of every response. Other modules define the
 * routes.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import fastifySwagger from '@fastify/swagger';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify';
import {
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import type { Logger } from '../log.js';
import { version } from '../version.js';
import { limitConnections } from './connections.js';
import { answerBrokenRequest, answerError, notFound, type Place } from './failures.js';
import { commonHeaders } from './headers.js';

export type App = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** TLS certificate and private key, in PEM format. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const limits = {
  maxHeaderSize: 8 * 1024,
  /** Milliseconds allowed for a client to send the headers of a request, and the whole request. */
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 60_000,
} as const;
const handshakeMs = 5_000;
/** Maximum number of pipelined requests that may wait on one connection. */
const maxWaiting = 32;
const maxBodyBytes = 16 * 1024;
/** A connection without any traffic for this time is closed. */
const silenceMs = 75_000;

/** Creates a server that has no routes and does not listen. Throws if the certificate is unusable. */
export async function createApp(log: Logger, certificate: Certificate | null): Promise<App> {
  const answer = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    answerError(log, error, request, reply);
  const app: App = fastify({
    serverFactory: (handler: RequestListener) => createLimited(handler, certificate),
    bodyLimit: maxBodyBytes,
    forceCloseConnections: true,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answer,
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(answer);
  app.addHook('onRequest', turns());
  app.addHook('onResponse', (request, reply, done) => {
    if (log.isLevelEnabled('debug')) {
      const { method, url, ip } = request;
      log.debug({ method, url, ip, status: reply.statusCode }, `HTTP: ${method} ${url}: ${reply.statusCode}`);
    }
    done();
  });
  const known: Place[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    known.push({ methods: [method].flat(), url });
  });
  app.setNotFoundHandler((request, reply) => answer(notFound(request, known), request, reply));
  takeJsonAlone(app);
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Petrel agent', version },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    },
    transform: jsonSchemaTransform,
  });
  return app;
}

/**
 * Returns the TLS options for a certificate, for a new server or for a running server whose certificate is
 * replaced.
 */
export function secured(certificate: Certificate): SecureContextOptions {
  return { ...certificate, minVersion: 'TLSv1.2' };
}

function createLimited(handler: RequestListener, certificate: Certificate | null): Server {
  const server =
    certificate === null
      ? createServer(limits, handler)
      : createSecureServer({ ...limits, handshakeTimeout: handshakeMs, ...secured(certificate) }, handler);
  limitConnections(server);
  server.setTimeout(silenceMs);
  return server;
}

/**
 * Delays pipelined requests. A response is computed only after the earlier responses on its connection were
 * sent, so it is current when it is sent. A connection with too many waiting requests is destroyed.
 */
function turns() {
  const waiting = new WeakMap<Socket, number>();
  const count = (socket: Socket, more: number) => {
    const now = (waiting.get(socket) ?? 0) + more;
    waiting.set(socket, now);
    return now;
  };
  return ({ raw: { socket } }: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    reply.headers(commonHeaders);
    if (reply.raw.socket !== null) done();
    else if (count(socket, 1) > maxWaiting) socket.destroy();
    else {
      reply.raw.once('socket', () => {
        count(socket, -1);
        done();
      });
    }
  };
}

/**
 * Accepts only JSON bodies, because a page from another site can send other types without a CORS preflight.
 * An empty body counts as an empty object.
 */
function takeJsonAlone(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, {});
    else parse(request, String(body), done);
  });
}
