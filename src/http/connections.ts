/**
 * Limits on open connections. Each costs the agent a file descriptor and time that a lease renewal needs. So
 * their number is bounded, and idle connections give way to active ones.
 *
 * Not promised: an answer for every client while some client fills all connections with readers of events.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';

/** Includes readers of events. */
export const maxConnections = 1_500;
/** Idle connections: new, between two requests, or with half a request sent. */
export const maxIdle = 256;

/** Closes the connection that has been idle longest if too many are idle. */
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
