/** Byte streams to servers. A stream knows nothing of what it carries. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { errorMessage } from '../errors.js';
import type { Server } from './connection-string.js';

/** How to talk TLS: the certificates, and how to check the server's. */
export interface SecureOptions {
  readonly context: SecureContext;
  /** Name to expect in the server's certificate instead of the host from the connection string. */
  readonly servername: string | undefined;
  readonly rejectUnauthorized: boolean;
}

export interface Endpoint {
  readonly server: Server;
  readonly address: string;
}

export interface Wire {
  /** Never blocks; what cannot be sent is lost with the stream, which is then told to have ended. */
  write(bytes: Buffer): void;
  /** Lets go of it at once. Nothing more is told of it. */
  destroy(): void;
}

/** What is told of a stream, never before `dial` has returned. */
export interface WireEvents {
  opened(): void;
  received(chunk: Buffer): void;
  /** The server closed it. */
  closed(): void;
  failed(why: string, cause: unknown): void;
}

export type Dial = (endpoint: Endpoint, events: WireEvents) => Wire;

/** Loaded by who needs it: to a process that has nothing else to do it would be a good part of its memory. */
export function loadTls(): typeof import('node:tls') {
  return process.getBuiltinModule('node:tls');
}

/** Over TCP, or TLS where `tls` says how. */
export function dialOver(tls: (() => SecureOptions) | undefined): Dial {
  return (endpoint, events) => {
    const target = { host: endpoint.address, port: endpoint.server.port };
    const socket =
      tls === undefined
        ? connectTcp(target, events.opened)
        : loadTls().connect({ ...target, ...secured(endpoint, tls()) }, events.opened);
    let isOver = false;
    const told = (tell: () => void) => {
      if (!isOver) tell();
    };
    socket.setNoDelay(true);
    socket.on('data', (chunk) => told(() => events.received(chunk)));
    socket.on('error', (error) => told(() => events.failed(errorMessage(error), error)));
    socket.on('end', () => told(events.closed));
    socket.on('close', () => told(events.closed));
    return {
      write: (bytes) => {
        sendTogether(socket);
        socket.write(bytes);
      },
      destroy: () => {
        isOver = true;
        socket.destroy();
      },
    };
  };
}

/**
 * What is written in one turn of the event loop goes out as one, at the turn's end: a look at a group is a
 * dozen small requests.
 */
function sendTogether(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(() => socket.uncork());
}

function secured({ server }: Endpoint, tls: SecureOptions) {
  const { context: secureContext, rejectUnauthorized } = tls;
  const name = tls.servername ?? server.host;
  // An address may not be announced to the server, but is checked against its certificate all the same.
  return { secureContext, rejectUnauthorized, ...(isIP(name) === 0 ? { servername: name } : {}) };
}
