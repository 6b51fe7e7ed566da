/** Access control lists as ZooKeeper has them: who may do what to one znode. */

/**
 * `create` and `delete` are about the children of a znode, `write` is about what it holds, `admin` about its
 * ACL.
 */
export const permissions = { read: 1, write: 2, create: 4, delete: 8, admin: 16, all: 31 } as const;

/** What a client has proven to be, or whom an ACL entry names. */
export interface Identity {
  readonly scheme: string;
  /** Of the scheme `digest`: the user, a colon, and a hash of user and password. */
  readonly id: string;
}

export interface AclEntry {
  /** A sum of `permissions`. */
  readonly permissions: number;
  readonly identity: Identity;
}

export type Acl = readonly AclEntry[];

const anyone: Identity = { scheme: 'world', id: 'anyone' };

export function toAnyone(allowed: number): AclEntry {
  return { permissions: allowed, identity: anyone };
}

export const openAcl: Acl = [toAnyone(permissions.all)];

/** Whom an entry names, without the hash of a password: `digest:petrel`, `world:anyone`. */
export function identityName({ scheme, id }: Identity): string {
  return `${scheme}:${scheme === 'digest' ? id.split(':', 1)[0] : id}`;
}

/** What a session is to ZooKeeper, for people, from the names of its identities. */
export function identitiesText(names: readonly string[]): string {
  return names.length === 0 ? 'world:anyone, without credentials' : names.join(', ');
}

const letters: readonly (readonly [string, number])[] = [
  ['c', permissions.create],
  ['d', permissions.delete],
  ['r', permissions.read],
  ['w', permissions.write],
  ['a', permissions.admin],
];

/** As ZooKeeper's own command line writes permissions: some of `cdrwa`. */
export function permissionText(allowed: number): string {
  return letters.map(([letter, bit]) => ((allowed & bit) === 0 ? '' : letter)).join('');
}

/** One line, without hashes of passwords. */
export function aclText(acl: Acl): string {
  return acl.map(({ permissions: allowed, identity }) => entryText(allowed, identity)).join(', ');
}

function entryText(allowed: number, identity: Identity): string {
  return `${identityName(identity)}:${permissionText(allowed)}`;
}

/**
 * Whether both let the same users do the same. Where a server does not show hashes, they are not compared.
 */
export function isAlike(one: Acl, other: Acl): boolean {
  return covers(one, other) && covers(other, one);
}

function covers(one: Acl, other: Acl): boolean {
  return other.every((entry) =>
    one.some(
      (candidate) =>
        candidate.permissions === entry.permissions && isSame(candidate.identity, entry.identity),
    ),
  );
}

/** What ZooKeeper shows in the place of a hash to who may not administer the znode. */
const hidden = /:x$/;

function isSame(one: Identity, other: Identity): boolean {
  if (one.scheme === 'digest' && (hidden.test(one.id) || hidden.test(other.id))) {
    return identityName(one) === identityName(other);
  }
  return one.scheme === other.scheme && one.id === other.id;
}
