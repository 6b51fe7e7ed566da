/**
 * Limits on open connections. Each connection costs the agent a file descriptor, and some of the time that
 * the agent needs for lease renewals. The number of connections is therefore limited, and idle connections
 * are closed in favour of active ones.
 *
 * Not promised: a response for every client while one client occupies all connections with event streams.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';

/** Maximum number of open connections, including event streams. */
export const maxConnections = 1_500;
/**
 * Maximum number of idle connections. A connection is idle if it is new, if it is between requests, or if
 * only part of a request has arrived.
 */
export const maxIdle = 256;

/** Limits the number of connections. If too many are idle, closes the one that has been idle longest. */
export function limitConnections(server: Server): void {
  server.maxConnections = maxConnections;
  const idle = new Set<Socket>();
  const underWay = new WeakMap<Socket, number>();
  const count = (socket: Socket, more: number) => {
    const now = (underWay.get(socket) ?? 0) + more;
    underWay.set(socket, now);
    idle.delete(socket);
    if (now > 0 || socket.destroyed) return;
    idle.add(socket);
    const [longest] = idle;
    if (idle.size > maxIdle) longest?.destroy();
  };
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    count(socket, 0);
    socket.once('close', () => idle.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    count(socket, 1);
    response.once('close', () => count(socket, -1));
  });
}
