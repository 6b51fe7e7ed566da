/** What carries packets to peers, and gives what came. Two of them: `udp.ts`, `tcp.ts`. */
import { isIPv6 } from 'node:net';
import { errorMessage, PetrelError } from '../errors.js';
import { type Endpoint, endpointText } from './endpoint.js';
import type { Tag } from './packet.js';

/** An address, not a name: IPv4, or IPv6 without brackets. */
export type Address = Endpoint;

export type WireName = 'udp' | 'tcp';

/**
 * Called for each packet that came. Returns whose it is; null for a stranger's. The bytes are not to be kept.
 * `reply` sends back the way that it came, where such a way is proven to lead to who sent it.
 */
export type OnPacket = (bytes: Buffer, wire: WireName, reply: ((bytes: Buffer) => void) | null) => Tag | null;

export interface Wire {
  readonly port: number;
  /** Sends at once, or not at all: whether it did. Never throws. */
  send(to: Address, bytes: Buffer): boolean;
  /** Nothing comes, and nothing is sent, from now on. */
  close(): Promise<void>;
}

/** Told of what goes wrong on the way to an address; null for what concerns all. */
export type OnTrouble = (to: Address | null, error: Error) => void;

/** The error for a person when an address cannot be listened at. */
export function cannotListen(at: Endpoint, wire: WireName, cause: unknown): PetrelError {
  const code = codeOf(cause);
  const right = remedies[code] ?? 'use an address of this machine and a free port, such as 0.0.0.0:7946';
  const where = `${endpointText(at)} (${wire.toUpperCase()})`;
  return new PetrelError(
    'INVALID',
    `probe.listen: cannot listen at ${where}: ${errorMessage(cause)}: ${right}`,
    { cause },
  );
}

const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE: 'choose another port, or stop the process that uses this port (another node on this machine?)',
  EADDRNOTAVAIL: 'use an address of this machine, or 0.0.0.0 or [::] for all its addresses',
  EACCES: 'use a port above 1023, or give this process the permission for lower ports',
  ENOTFOUND: 'use an IP address, or a host name that resolves to an address of this machine',
};

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** How an address is written for a socket that speaks IPv6, which may speak IPv4 too. */
export function mapped(host: string): string {
  return isIPv6(host) ? host : `::ffff:${host}`;
}
