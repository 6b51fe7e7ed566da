/** Where the agents of a development group answer HTTP: ports one behind the other, or any that are free. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { usualListen } from '../config/listen.js';

export interface DevHttp {
  /** Where a node answers. */
  urlOf(node: string): string;
  /** Holds the token that changes want. */
  readonly tokenFile: string;
  /** Flags of a node's agent. */
  flagsOf(node: string): readonly string[];
}

/**
 * `first`: the port to try for the first node, those behind it for the others; 0: any for each. Nobody is
 * kept from taking a port before its agent does: that agent then ends, and says why.
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

/** All held until the last one is known, so that they differ. */
async function freePorts(first: number, count: number): Promise<number[]> {
  const holders = [];
  try {
    for (let n = 0; n < count; n++) {
      holders.push((await hold(first === 0 ? 0 : first + n)) ?? (await hold(0)));
    }
    return holders.flatMap((holder) => (holder === null ? [] : [holder.port]));
  } finally {
    for (const holder of holders) holder?.endLeadership();
  }
}

/** Null when somebody else has it. */
async function hold(port: number): Promise<{ readonly port: number; endLeadership(): void } | null> {
  const server = createServer();
  server.listen(port, usualListen.host);
  try {
    await once(server, 'listening');
  } catch {
    return null;
  }
  const address = server.address();
  const held = typeof address === 'object' ? address?.port : undefined;
  return held === undefined ? null : { port: held, endLeadership: () => server.close() };
}
