/** ZooKeeper's access control lists, which define the rights of clients on one znode. */

/** `create` and `delete` apply to a znode's children, `write` to its content, and `admin` to its ACL. */
export const permissions = { read: 1, write: 2, create: 4, delete: 8, admin: 16, all: 31 } as const;

/** An identity that a client has proven, or that an ACL entry names. */
export interface Identity {
  readonly scheme: string;
  /**
   * Identity within the scheme. In the scheme `digest`, this is the user, a colon, and a hash of user and
   * password.
   */
  readonly id: string;
}

export interface AclEntry {
  /** Sum of the values in `permissions`. */
  readonly permissions: number;
  readonly identity: Identity;
}

export type Acl = readonly AclEntry[];

const anyone: Identity = { scheme: 'world', id: 'anyone' };

export function toAnyone(allowed: number): AclEntry {
  return { permissions: allowed, identity: anyone };
}

export const openAcl: Acl = [toAnyone(permissions.all)];

/** Returns an identity without the password hash, such as `digest:petrel` or `world:anyone`. */
export function identityName({ scheme, id }: Identity): string {
  return `${scheme}:${scheme === 'digest' ? id.split(':', 1)[0] : id}`;
}

/** Describes a session's identities as ZooKeeper sees them, for display. */
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

/** Formats permissions in the form that ZooKeeper's own command line uses: a subset of `cdrwa`. */
export function permissionText(allowed: number): string {
  return letters.map(([letter, bit]) => ((allowed & bit) === 0 ? '' : letter)).join('');
}

/** Formats an ACL as one line, without password hashes. */
export function aclText(acl: Acl): string {
  return acl.map(({ permissions: allowed, identity }) => entryText(allowed, identity)).join(', ');
}

function entryText(allowed: number, identity: Identity): string {
  return `${identityName(identity)}:${permissionText(allowed)}`;
}

/**
 * Whether both ACLs grant the same rights to the same users. If a server hides a hash, only the user names
 * are compared.
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

/**
 * Matches a hidden hash. If a client has no permission to administer a znode, ZooKeeper replaces the hashes
 * in its ACL with this text.
 */
const hidden = /:x$/;

function isSame(one: Identity, other: Identity): boolean {
  if (one.scheme === 'digest' && (hidden.test(one.id) || hidden.test(other.id))) {
    return identityName(one) === identityName(other);
  }
  return one.scheme === other.scheme && one.id === other.id;
}
