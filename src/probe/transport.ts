/** Interface of the transports that carry packets between peers: `udp.ts` and `tcp.ts`. */
import { isIPv6 } from 'node:net';
import { errorMessage, PetrelError } from '../errors.js';
import { type Endpoint, endpointText } from './endpoint.js';
import type { Tag } from './packet.js';

/** IP address and port of a transport. The host is never a name, and an IPv6 address has no brackets. */
export type Address = Endpoint;

export type TransportName = 'udp' | 'tcp';

/**
 * Called for each packet that arrives. Returns the packet's sender, or null for a stranger. The callee must
 * not keep the bytes. `reply` sends bytes back over the same path. `reply` is null if the path is not proven
 * to lead to the sender.
 */
export type OnPacket = (
  bytes: Buffer,
  transport: TransportName,
  reply: ((bytes: Buffer) => void) | null,
) => Tag | null;

export interface Transport {
  readonly port: number;
  /** Sends a packet immediately or not at all. Returns whether the packet was sent. Never throws. */
  send(to: Address, bytes: Buffer): boolean;
  /** Stops receiving and sending. */
  close(): Promise<void>;
}

/** Called when sending to an address fails. The address is null if the error concerns all peers. */
export type OnSendError = (to: Address | null, error: Error) => void;

/** Returns an error that explains why a transport cannot listen on an address. */
export function cannotListen(at: Endpoint, transport: TransportName, cause: unknown): PetrelError {
  const code = codeOf(cause);
  const right = remedies[code] ?? 'use an address of this machine and a free port, such as 0.0.0.0:7946';
  const where = `${endpointText(at)} (${transport.toUpperCase()})`;
  return new PetrelError(
    'INVALID',
    `probe.listen: cannot listen on ${where}: ${errorMessage(cause)}: ${right}`,
    { cause },
  );
}

const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE: 'choose another port, or stop the process that uses this port (another node on this machine?)',
  EADDRNOTAVAIL: 'use an address of this machine, or 0.0.0.0 or [::] for all its addresses',
  EACCES: 'use a port above 1023, or give this process permission to use lower ports',
  ENOTFOUND: 'use an IP address, or a host name that resolves to an address of this machine',
};

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Returns the address in the form that an IPv6 socket needs. Such a socket can also reach IPv4 addresses. */
export function mapped(host: string): string {
  return isIPv6(host) ? host : `::ffff:${host}`;
}
