/** Assigns HTTP ports to the agents of a development group: successive ones, or any free ones. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { usualListen } from '../config/listen.js';

export interface DevHttp {
  /** The address of a node's HTTP server. */
  urlOf(node: string): string;
  /** File with the token that changes require. */
  readonly tokenFile: string;
  /** Flags of a node's agent. */
  flagsOf(node: string): readonly string[];
}

/**
 * `first`: the port to try for the first node, followed by those for the others. 0 means any free ports. The
 * ports are not reserved: if another process takes one before its agent does, the agent exits and reports it.
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

/** Keeps all ports open until the last one is known, so that they differ. */
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

/** Null if the port is in use. */
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
