/**
 * Access control lists (ACLs): they define what each client may do to a znode. The schemes are world, auth,
 * digest and ip.
 */

import { BlockList, isIP } from 'node:net';
import type { Acl, AclEntry, Identity } from '../model/acl.js';
import { ZooKeeperError } from './errors.js';

/**
 * Converts the ACL that a client requested to the ACL that is stored. Removes duplicates, and replaces `auth`
 * with the client's identities.
 */
export function resolveAcl(requested: Acl, client: readonly Identity[], path: string): Acl {
  const resolved = distinct(requested).flatMap((entry) => resolveEntry(entry, client, path));
  if (resolved.length === 0) throw new ZooKeeperError('INVALID_ACL', path);
  return resolved;
}

function resolveEntry(entry: AclEntry, client: readonly Identity[], path: string): AclEntry[] {
  const { identity } = entry;
  if (identity.scheme === 'auth') {
    const proven = client.filter((candidate) => candidate.scheme === 'digest');
    if (proven.length === 0) throw new ZooKeeperError('INVALID_ACL', path);
    return proven.map((candidate) => ({ permissions: entry.permissions, identity: candidate }));
  }
  if (!isWellFormed(identity)) throw new ZooKeeperError('INVALID_ACL', path);
  return [entry];
}

function isWellFormed({ scheme, id }: Identity): boolean {
  if (scheme === 'world') return id === 'anyone';
  if (scheme === 'digest') return id.split(':').length === 2;
  if (scheme === 'ip') return subnet(id) !== undefined;
  return false;
}

function distinct(acl: Acl): AclEntry[] {
  const seen = new Map(acl.map((entry) => [JSON.stringify(entry), entry]));
  return [...seen.values()];
}

export function permits(acl: Acl, permission: number, client: readonly Identity[]): boolean {
  return acl.some((entry) => (entry.permissions & permission) !== 0 && matchesAny(entry.identity, client));
}

function matchesAny(wanted: Identity, client: readonly Identity[]): boolean {
  if (wanted.scheme === 'world') return true;
  return client.some((identity) => identity.scheme === wanted.scheme && matches(wanted, identity));
}

function matches(wanted: Identity, identity: Identity): boolean {
  if (wanted.scheme !== 'ip') return wanted.id === identity.id;
  const [address = ''] = identity.id.split('%');
  const family = isIP(address);
  if (family === 0) return false;
  return subnet(wanted.id)?.check(address, family === 6 ? 'ipv6' : 'ipv4') ?? false;
}

/** Returns the set of addresses that the text `address` or `address/bits` describes. */
function subnet(text: string): BlockList | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  // Reject an address with a zone (fe80::1%eth0), because it is valid only on one machine.
  const family = address.includes('%') ? 0 : isIP(address);
  const width = family === 6 ? 128 : 32;
  const prefix = bits === undefined ? width : Number(bits);
  if (family === 0 || rest.length > 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > width)
    return undefined;
  const addresses = new BlockList();
  addresses.addSubnet(address, prefix, family === 6 ? 'ipv6' : 'ipv4');
  return addresses;
}

/** Returns the ACL as a client without the admin permission sees it, with digests hidden. */
export function redactedAcl(acl: Acl): Acl {
  return acl.map((entry) => {
    if (entry.identity.scheme !== 'digest') return entry;
    const id = entry.identity.id.replace(/:.*/, ':x');
    return { permissions: entry.permissions, identity: { scheme: 'digest', id } };
  });
}
