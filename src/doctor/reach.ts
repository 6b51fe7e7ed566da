/** Checks whether this machine can reach a peer. */
import { connect } from 'node:net';
import type { ProbeAddress } from '../model/znodes.js';

/**
 * Tries to connect to a peer's probe address. Returns null if the peer accepts the connection. Otherwise
 * returns the reason for the failure, in one line. Never rejects.
 */
export function reachByTcp({ host, port }: ProbeAddress, timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (problem: string | null) => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(timeoutMs, () => end(`no answer within ${timeoutMs} ms`));
    socket.once('connect', () => end(null));
    socket.once('error', ({ message }) => end(message));
  });
}
