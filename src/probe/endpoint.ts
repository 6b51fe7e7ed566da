/** Parses and formats `HOST:PORT`. An IPv6 address is written in brackets. */
import { isIP, isIPv6 } from 'node:net';
import { quoted } from '../model/outside.js';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

const nameForm =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/;

/** Parses `HOST:PORT`. Throws an Error that says what is expected. */
export function parseEndpoint(text: string): Endpoint {
  const { host, port } = parseHost(text);
  if (port === null) throw new Error(`${quoted(text)} has no port: write HOST:PORT, such as 0.0.0.0:7946`);
  return { host, port };
}

/** Parses `HOST:PORT` or `HOST`. Throws an Error that says what is expected. */
export function parseHost(text: string): { readonly host: string; readonly port: number | null } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const isHost = bracketed === undefined ? isAddressOrName(host) : isIPv6(host);
  if (!isHost) {
    throw new Error(
      `expected HOST:PORT (such as 0.0.0.0:7946, [::]:7946 or node1.example.com:7946), found ${quoted(text)}`,
    );
  }
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && port > 65_535) throw new Error(`${port} is not a port: expected at most 65535`);
  return { host, port };
}

export function endpointText({ host, port }: Endpoint): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Whether the host is an IPv4 address or a valid name. Any other text that consists only of digits and dots
 * is a malformed address.
 */
function isAddressOrName(host: string): boolean {
  return isIP(host) === 4 || (nameForm.test(host) && !/^[\d.]+$/.test(host));
}
