/** Describes a missing group: the ACL that determines who can create it, and the identity of this process. */

import { PetrelError } from '../errors.js';
import { type Acl, aclText, identitiesText } from '../model/acl.js';
import type { GroupPaths } from '../model/paths.js';
import type { Store } from '../ports/store.js';
import { mayCreate, unlessForbidden } from './access.js';

/**
 * Returns an error for the operator. The error names the ACL that determines which identities may create the
 * group. Throws StoreError.
 */
export async function noGroup(store: Store, { root }: GroupPaths): Promise<PetrelError> {
  const message = `there is no group at ${root}: no agent has created it. ${await whoMay(store, root)}`;
  return new PetrelError('INVALID', message, { remedies: [{ kind: 'root' }] });
}

async function whoMay(store: Store, root: string): Promise<string> {
  const unknown = 'If an agent lacks permission to create it, the log of the agent says so';
  const parent = await nearest(store, root);
  if (parent === null) return unknown;
  const acl = (await unlessForbidden(store.getAcl(parent)))?.acl ?? null;
  if (acl !== null && mayCreate(acl, [])) return unknown;
  const shown = acl === null ? 'which this process may not read' : aclText(acl);
  const verdict = isAllowed(acl, store.identities)
    ? 'this process may create'
    : 'this process may not create';
  return (
    `According to the ACL of ${parent} (${shown}), ${verdict} it (as ${identitiesText(store.identities)}). ` +
    'Give the group’s agents credentials that allow it (--auth-file), or change that ACL'
  );
}

function isAllowed(acl: Acl | null, identities: readonly string[]): boolean {
  return acl !== null && mayCreate(acl, identities);
}

/**
 * Returns the root or its nearest existing ancestor. The ACL of that znode determines who may create the
 * group. Null if not even the chroot exists.
 */
async function nearest(store: Store, root: string): Promise<string | null> {
  for (let path = root; path !== ''; path = path.slice(0, path.lastIndexOf('/'))) {
    if ((await store.exists(path)) !== null) return path;
  }
  return (await store.exists('/')) === null ? null : '/';
}
