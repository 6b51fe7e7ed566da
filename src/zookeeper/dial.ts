/** Byte streams to servers. A stream does not interpret the bytes. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { errorMessage } from '../errors.js';
import type { Server } from './connection-string.js';

/** TLS settings of a stream: the certificates, and how to check the server's certificate. */
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
  /**
   * Sends bytes without blocking. Bytes that cannot be sent are lost, and the end of the stream is then
   * reported.
   */
  write(bytes: Buffer): void;
  /** Destroys the stream immediately. The stream reports no more events. */
  destroy(): void;
}

/** Events of a stream. `dial` returns before the first event is reported. */
export interface WireEvents {
  opened(): void;
  received(chunk: Buffer): void;
  /** Reports that the server closed the stream. */
  closed(): void;
  failed(why: string, cause: unknown): void;
}

export type Dial = (endpoint: Endpoint, events: WireEvents) => Wire;

/** Loads the TLS module on demand. The module would take a large part of an idle process's memory. */
export function loadTls(): typeof import('node:tls') {
  return process.getBuiltinModule('node:tls');
}

/** Returns a function that dials over TCP, or over TLS if `tls` is given. */
export function dialOver(tls: (() => SecureOptions) | undefined): Dial {
  return (endpoint, events) => {
    const target = { host: endpoint.address, port: endpoint.server.port };
    const socket =
      tls === undefined
        ? connectTcp(target, events.opened)
        : loadTls().connect({ ...target, ...secured(endpoint, tls()) }, events.opened);
    let isOver = false;
    const unlessOver = (notify: () => void) => {
      if (!isOver) notify();
    };
    socket.setNoDelay(true);
    socket.on('data', (chunk) => unlessOver(() => events.received(chunk)));
    socket.on('error', (error) => unlessOver(() => events.failed(errorMessage(error), error)));
    socket.on('end', () => unlessOver(events.closed));
    socket.on('close', () => unlessOver(events.closed));
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
 * Combines everything that is written in one event-loop turn into one write at the end of the turn. Reading a
 * group, for example, takes a dozen small requests.
 */
function sendTogether(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(() => socket.uncork());
}

function secured({ server }: Endpoint, tls: SecureOptions) {
  const { context: secureContext, rejectUnauthorized } = tls;
  const name = tls.servername ?? server.host;
  // Do not send an IP address as the server name, because TLS forbids this. The certificate is still checked
  // against the address.
  return { secureContext, rejectUnauthorized, ...(isIP(name) === 0 ? { servername: name } : {}) };
}
