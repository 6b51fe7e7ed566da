/** Parses and formats the address on which an agent's HTTP server listens. */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { quoted } from '../model/outside.js';

export interface ListenAddress {
  /** A host name or an IP address. An IPv6 address has no brackets. */
  readonly host: string;
  /** TCP port. 0 means any free port. */
  readonly port: number;
}

/** `auto` means the usual address, or no address if the usual one is in use. */
export type Listen = ListenAddress | 'auto' | 'off';

export const usualListen: ListenAddress = { host: '127.0.0.1', port: 8008 };

const pattern = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:[\]\s/@]+)):(?<port>\d{1,5})$/;
const rule = 'write ADDRESS:PORT (such as 127.0.0.1:8008, 0.0.0.0:8008 or [::1]:8008), off, or auto';

/** Parses a listen address. Throws a RangeError that says what is expected. */
export function parseListen(text: string): Listen {
  if (text === 'off' || text === 'auto') return text;
  const { v6, host = v6, port = '' } = pattern.exec(text)?.groups ?? {};
  if (host === undefined || (v6 !== undefined && !isIPv6(v6))) {
    throw new RangeError(`${quoted(text)} is not an address to listen on: ${rule}`);
  }
  if (Number(port) > 65_535)
    throw new RangeError(`${port} is not a port: expected 0 to 65535, where 0 means any free port`);
  return { host, port: Number(port) };
}

/** Returns the host in the form that is used in URLs. */
export function hostText(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Whether only this machine can reach the address. False for names other than localhost, because they may
 * resolve to any address.
 */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}
