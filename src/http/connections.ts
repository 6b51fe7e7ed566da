/**
 * How many connections a client may hold open. Each costs the agent a file and some of the time that a renewal of its
 * lease needs, so that the most there can be is bounded, and what says nothing gives way to what does.
 *
 * Not promised: an answer to everybody while somebody fills all connections with readers of events.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';

/** Readers of events among them. */
export const maxConnections = 1_500;
/** Connections without a whole request: new, between two requests, or with half a one. */
export const maxIdle = 256;

/** Hangs up on the connection that has been idle for longest when there are too many. */
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
