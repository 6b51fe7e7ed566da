/**
 * Reads the current ACLs of a group's znodes, determines the required ACLs, and sets them. In normal
 * operation, Petrel sets a znode's ACL only when it creates the znode. This file corrects the ACLs of znodes
 * that were created earlier or under other settings.
 */

import { PetrelError } from '../errors.js';
import { type Access, aclOf } from '../model/access.js';
import {
  type Acl,
  aclText,
  type Identity,
  identityName,
  isAlike,
  openAcl,
  permissions,
} from '../model/acl.js';
import type { GroupPaths } from '../model/paths.js';
import { isStoreError, type Store } from '../ports/store.js';

export interface ZnodeAcl {
  readonly path: string;
  /** The current ACL. Null if this process is not allowed to read the ACL. */
  readonly acl: Acl | null;
  readonly wanted: Acl;
  readonly isRight: boolean;
  /** Version of the ACL. The ACL is changed only if it still has this version. */
  readonly version: number;
}

/**
 * Reads the ACLs of the group's root and of everything below it. Returns an empty list if there is no group.
 * If `access` is null, the required ACL of every znode is the open ACL. Throws StoreError.
 */
export async function readAcls(store: Store, paths: GroupPaths, access: Access | null): Promise<ZnodeAcl[]> {
  const all: ZnodeAcl[] = [];
  let level = [paths.root];
  while (level.length > 0) {
    const looks = await Promise.all(level.map((path) => look(store, paths, access, path)));
    const found = looks.filter((one) => one !== null);
    all.push(...found.map(({ znode }) => znode));
    level = found.flatMap(({ znode, children }) => children.map((name) => `${znode.path}/${name}`));
  }
  return all;
}

/** Reads the ACL of one znode. Returns null if the znode does not exist. */
async function look(store: Store, paths: GroupPaths, access: Access | null, path: string) {
  const wanted = access === null ? openAcl : aclOf(access, paths, path);
  const [known, children] = await Promise.all([
    unlessForbidden(store.getAcl(path)),
    unlessForbidden(store.getChildren(path)),
  ]).catch((error: unknown) => {
    if (isStoreError(error, 'NO_NODE')) return [undefined, undefined];
    throw error;
  });
  if (known === undefined || children === undefined) return null;
  const acl = known?.acl ?? null;
  const isRight = acl !== null && isAlike(acl, wanted);
  const znode: ZnodeAcl = { path, acl, wanted, isRight, version: known?.stat.aversion ?? 0 };
  return { znode, children: children?.children ?? [] };
}

/** Awaits a call. Returns null if an ACL forbids the call. Throws every other StoreError. */
export async function unlessForbidden<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isStoreError(error, 'NO_AUTH')) return null;
    throw error;
  }
}

/**
 * Returns the znodes whose ACL is wrong and must be set. If the required ACLs give everyone all permissions,
 * registrations made without credentials keep their ACL. From this ACL, `lockedOut` recognizes that their
 * agents have no credentials.
 */
export function toSet(znodes: readonly ZnodeAcl[], paths: GroupPaths, access: Access): ZnodeAcl[] {
  const kept = access.world === 'all' ? lockedOut(znodes, paths, access).map(paths.node) : [];
  return znodes.filter(({ path, isRight }) => !isRight && !kept.includes(path));
}

/**
 * Sets one ACL. Returns false if the znode no longer exists or its ACL has changed. Throws PetrelError
 * FORBIDDEN or StoreError.
 */
export async function setAcl(store: Store, { path, wanted, version }: ZnodeAcl): Promise<boolean> {
  try {
    await store.setAcl(path, wanted, version);
    return true;
  } catch (error) {
    if (isStoreError(error, 'NO_NODE', 'BAD_VERSION')) return false;
    if (!isStoreError(error, 'NO_AUTH')) throw error;
    const right =
      'only an identity with all rights can set it: pass the credentials of an agent of the group with --auth-file';
    throw new PetrelError('FORBIDDEN', `no permission to set the ACL of ${path}: ${right}`, { cause: error });
  }
}

/**
 * Returns the nodes that the required ACLs would lock out. The ACLs of their registrations name none of the
 * agents in `access`, so the agents of these nodes have no credentials, or different credentials.
 */
export function lockedOut(znodes: readonly ZnodeAcl[], paths: GroupPaths, access: Access): string[] {
  const agents = access.agents.map(({ id }) => id);
  const prefix = paths.node('');
  return znodes
    .filter(({ path, acl }) => path.startsWith(prefix) && !isMadeBy(acl, agents))
    .map(({ path }) => path.slice(prefix.length));
}

function isMadeBy(acl: Acl | null, agents: readonly string[]): boolean {
  const entries = acl ?? [];
  return entries.some(({ identity: { scheme, id } }) => scheme === 'digest' && agents.includes(id));
}

/**
 * Checks that records written by this process would get the same ACL as the group's history. Everyone who can
 * read the group must be able to read the records. `own` is this process's identity. Throws PetrelError
 * REFUSED if the ACL would differ.
 */
export async function checkSameAccess(
  store: Store,
  paths: GroupPaths,
  access: Access | null,
  own: Identity | null,
): Promise<void> {
  const { history } = paths;
  if (access === null || access.world === 'all') return;
  const known = await unlessForbidden(store.getAcl(history)).catch((error: unknown) => {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
  });
  const wanted = aclOf(access, paths, history);
  if (
    known === null ||
    !mayCreate(known.acl, own === null ? [] : [identityName(own)]) ||
    isAlike(known.acl, wanted)
  )
    return;
  throw new PetrelError(
    'REFUSED',
    'the acl.* settings of this process differ from the ACLs of the group: set acl.* as on the group’s agents',
    {
      reasons: [
        `the group is open to ${aclText(known.acl)}`,
        `according to these settings, it should be open to ${aclText(wanted)}`,
      ],
    },
  );
}

/**
 * Whether the ACL allows everyone, or one of the identities named in `own`, to create children. If hashes are
 * hidden, the answer is a best guess. In any case, ZooKeeper itself rejects identities that lack permission.
 */
export function mayCreate(acl: Acl, own: readonly string[]): boolean {
  const names = ['world:anyone', ...own];
  return acl.some(
    ({ permissions: allowed, identity }) =>
      (allowed & permissions.create) !== 0 && names.includes(identityName(identity)),
  );
}
