/** Znodes of another application under the root of a group: Petrel neither counts nor deletes them. */
import type { GroupPaths } from '../core/paths.js';
import { parseSeatName } from '../core/sequence.js';
import { PetrelError } from '../errors.js';
import { isStoreError, type Store } from '../ports/store.js';

/**
 * True for a living session's znode whose name has the form of a seat's, and whose content has not. What is persistent is
 * nobody's, and in the way. Throws StoreError.
 */
export async function isHeldByOthers(store: Store, paths: GroupPaths, name: string): Promise<boolean> {
  const { data, stat } = await store.getData(paths.seat(name));
  return stat.ephemeralOwner !== 0n && data.toString('utf8') !== parseSeatName(name)?.node;
}

/** Throws PetrelError INVALID where another application elects by the directory of the seats: each would hold up the other. */
export async function mustBeOurs(store: Store, paths: GroupPaths): Promise<void> {
  for (const name of await seatNames(store, paths)) {
    if (!(await isTheirs(store, paths, name))) continue;
    const right = 'give the group a root of its own (--root)';
    throw new PetrelError(
      'INVALID',
      `another application uses ${paths.election}: ${name} is not Petrel's; ${right}`,
    );
  }
}

async function seatNames(store: Store, paths: GroupPaths): Promise<string[]> {
  try {
    const { children } = await store.getChildren(paths.election);
    return children.filter((name) => parseSeatName(name) !== null);
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return [];
    throw error;
  }
}

async function isTheirs(store: Store, paths: GroupPaths, name: string): Promise<boolean> {
  try {
    return await isHeldByOthers(store, paths, name);
  } catch (error) {
    // Gone again.
    if (isStoreError(error, 'NO_NODE')) return false;
    throw error;
  }
}
