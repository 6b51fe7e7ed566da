/** Assigns HTTP ports to the agents of a development group: successive ports, or any free ports. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { usualListen } from '../config/listen.js';

export interface DevHttp {
  /** Returns the address of a node's HTTP server. */
  urlOf(node: string): string;
  /** File that contains the token. Changes over HTTP require the token. */
  readonly tokenFile: string;
  /** Returns the command-line flags of a node's agent. */
  flagsOf(node: string): readonly string[];
}

/**
 * Assigns the ports. The first node gets the port `first`, and the other nodes get the ports after it. If a
 * port is in use, any free port replaces it. If `first` is 0, any free ports are used.
 *
 * The ports are not reserved. If another process takes a port before the agent does, the agent reports the
 * conflict and exits.
 */
export async function devHttp(nodes: readonly string[], first: number, dir: string): Promise<DevHttp> {
  const tokenFile = join(dir, 'token');
  writeFileSync(tokenFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  const ports = await freePorts(first, nodes.length);
  const placeOf = (node: string) => `${usualListen.host}:${ports[nodes.indexOf(node)]}`;
  return {
    tokenFile,
    urlOf: (node) => `http://${placeOf(node)}`,
    flagsOf: (node) => ['--listen', placeOf(node), '--http-token-file', tokenFile],
  };
}

/**
 * Finds free ports. All ports are kept open until the last one has been found, so that none is found twice.
 */
async function freePorts(first: number, count: number): Promise<number[]> {
  const holders = [];
  try {
    for (let n = 0; n < count; n++) {
      holders.push((await hold(first === 0 ? 0 : first + n)) ?? (await hold(0)));
    }
    return holders.flatMap((holder) => (holder === null ? [] : [holder.port]));
  } finally {
    for (const holder of holders) holder?.close();
  }
}

/** Opens the port. Returns null if it is in use. */
async function hold(port: number): Promise<{ readonly port: number; close(): void } | null> {
  const server = createServer();
  server.listen(port, usualListen.host);
  try {
    await once(server, 'listening');
  } catch {
    return null;
  }
  const address = server.address();
  const held = typeof address === 'object' ? address?.port : undefined;
  return held === undefined ? null : { port: held, close: () => server.close() };
}
