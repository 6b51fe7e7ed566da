/**
 * ZooKeeper connection strings: `host[:port],host[:port]…[/chroot]`. They are checked here because the client
 * library accepts nearly anything. Whether a host exists is not checked.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { PetrelError } from '../errors.js';
import { quoted } from '../model/outside.js';

export interface Server {
  /** A host name or an address. IPv6 addresses are written without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface ConnectionString {
  /** At least one server. Each server appears once. */
  readonly servers: readonly Server[];
  /** Path that contains all of the client's znodes, such as `/apps/petrel`. Empty if there is no chroot. */
  readonly chroot: string;
}

const defaultPort = 2181;

/**
 * @throws PetrelError INVALID if the text is invalid. The error names the invalid part and the expected form.
 */
export function parseConnectionString(text: string): ConnectionString {
  const trimmed = text.trim();
  if (trimmed === '') refuse(text, 'the string is empty');
  if (trimmed.includes('://'))
    refuse(text, 'the string has a URL scheme: remove everything up to and including "://"');
  const slash = trimmed.indexOf('/');
  const hosts = (slash === -1 ? trimmed : trimmed.slice(0, slash)).split(',');
  const chroot = slash === -1 ? '' : parseChroot(text, trimmed.slice(slash));
  const servers = new Map<string, Server>();
  hosts.forEach((part, index) => {
    const where = hosts.length === 1 ? 'the server' : `server ${index + 1} of ${hosts.length}`;
    const server = parseServer(text, part.trim(), where);
    servers.set(serverText(server), server);
  });
  return { servers: [...servers.values()], chroot };
}

/** Returns `host:port`, with brackets around an IPv6 address. */
export function serverText(server: Server): string {
  return isIPv6(server.host) ? `[${server.host}]:${server.port}` : `${server.host}:${server.port}`;
}

function refuse(text: string, problem: string): never {
  throw new PetrelError(
    'INVALID',
    `ZooKeeper connection string ${quoted(text)}: ${problem}. Expected the form "host:2181,host2:2181/chroot"`,
  );
}

function parseServer(text: string, part: string, where: string): Server {
  if (part === '') refuse(text, `${where} is empty (extra comma?)`);
  const bracketed = /^\[(?<host>[^\]]*)\](?<rest>.*)$/.exec(part)?.groups;
  if (bracketed) {
    const { host = '', rest = '' } = bracketed;
    if (!isIPv6(host)) refuse(text, `${where}: ${quoted(host)} in brackets is not an IPv6 address`);
    if (rest !== '' && !rest.startsWith(':'))
      refuse(text, `${where}: unexpected ${quoted(rest)} after the bracket`);
    return { host, port: rest === '' ? defaultPort : parsePort(text, rest.slice(1), where) };
  }
  if (part.includes('[') || part.includes(']'))
    refuse(text, `${where} (${quoted(part)}) contains an unmatched bracket`);
  const [host = '', port, ...more] = part.split(':');
  if (/\s/.test(host) || (more.length > 0 && /\s/.test(part)))
    refuse(text, `${where} (${quoted(part)}) contains a space: separate servers with commas`);
  if (more.length > 0)
    refuse(text, `${where} (${quoted(part)}): write an IPv6 address in brackets, as in "[::1]:2181"`);
  checkHost(text, host, where);
  return { host, port: port === undefined ? defaultPort : parsePort(text, port, where) };
}

function checkHost(text: string, host: string, where: string): void {
  if (host === '') refuse(text, `${where} has no host name`);
  if (!/^[A-Za-z0-9._-]+$/.test(host)) refuse(text, `${where} (${quoted(host)}) is not a host name`);
  if (/^[\d.]+$/.test(host) && !isIPv4(host))
    refuse(text, `${where} (${quoted(host)}) is not an IPv4 address`);
}

function parsePort(text: string, port: string, where: string): number {
  const value = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (value < 1 || value > 65_535) refuse(text, `${where} has the port ${quoted(port)}: expected 1 to 65535`);
  return value;
}

function parseChroot(text: string, chroot: string): string {
  if (chroot === '/') return '';
  if (chroot.includes(',')) refuse(text, 'write the chroot once, after the last server, and without commas');
  if (/[\p{Cc}\p{Cf}\s\u{d800}-\u{f8ff}\u{fff0}-\u{10ffff}]/u.test(chroot))
    refuse(
      text,
      `the chroot ${quoted(chroot)} contains a space or a character that ZooKeeper does not allow`,
    );
  for (const name of chroot.slice(1).split('/')) {
    if (name === '') refuse(text, `the chroot ${quoted(chroot)} contains an empty name (extra slash?)`);
    if (name === '.' || name === '..')
      refuse(text, `the chroot ${quoted(chroot)} must not contain ${quoted(name)}`);
  }
  return chroot;
}
