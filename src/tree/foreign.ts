/** Znodes of another application under the root of a group. Petrel neither counts nor deletes them. */

import { PetrelError } from '../errors.js';
import { parseJson } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { parseGroupConfig } from '../model/read-config.js';
import { parseSeatName } from '../model/sequence.js';
import { historyHeadSchema } from '../model/znodes.js';
import { isStoreError, type Store } from '../ports/store.js';

/**
 * Whether the election znode with this name belongs to another application. This is the case if a live
 * session owns it, but its content is not that of a Petrel election znode. A persistent znode belongs to no
 * session, so it does not count. Throws StoreError.
 */
export async function isHeldByOthers(store: Store, paths: GroupPaths, name: string): Promise<boolean> {
  const { data, stat } = await store.getData(paths.seat(name));
  return stat.ephemeralOwner !== 0n && data.toString('utf8') !== parseSeatName(name)?.node;
}

/**
 * Throws PetrelError INVALID if another application runs elections in the directory of the election znodes.
 * The two applications would block each other.
 */
export async function mustBeOurs(store: Store, paths: GroupPaths): Promise<void> {
  for (const name of await seatNames(store, paths)) {
    if (!(await isTheirs(store, paths, name))) continue;
    const right = 'choose another root path for the group (--root)';
    throw new PetrelError(
      'INVALID',
      `another application uses ${paths.election}: ${name} does not belong to Petrel; ${right}`,
    );
  }
}

/**
 * Throws PetrelError INVALID if a znode of the group contains another application's data. Otherwise, the
 * group would overwrite that data or use the znode despite its content. Call this only for a node that knows
 * nothing about the group, because the znodes of an existing group belong to that group, whatever they
 * contain. Throws StoreError.
 */
export async function mustBeFree(store: Store, paths: GroupPaths): Promise<void> {
  const persistent = [paths.config, paths.nodes, paths.election, paths.history, paths.leader, paths.clock];
  const reads = await Promise.all(persistent.map((path) => readIfThere(store, path)));
  const found = new Map(persistent.map((path, index) => [path, reads[index] ?? null]));
  const hasBegun = [paths.nodes, paths.election].some((path) => found.get(path) !== null);
  for (const [path, read] of found) {
    const problem = read === null ? null : foreignProblem(paths, path, read, hasBegun);
    if (problem === null) continue;
    const right = 'choose another root path for the group (--root), or delete the znode if it is not needed';
    throw new PetrelError('INVALID', `${path} does not belong to Petrel: ${problem}; ${right}`);
  }
}

/** Returns why the content cannot be that of a group. Returns null if a group may have written it. */
function foreignProblem(paths: GroupPaths, path: string, read: Read, hasBegun: boolean): string | null {
  if (read.stat.ephemeralOwner !== 0n) return 'the znode is ephemeral';
  if (read.data.length === 0) return null;
  const text = read.data.toString('utf8');
  if (path === paths.clock) return 'the znode contains data';
  if (path === paths.history) return parseJson(historyHeadSchema, text).problem;
  return path === paths.config && !hasBegun ? parseGroupConfig(text).problem : null;
}

type Read = Awaited<ReturnType<Store['getData']>>;

async function readIfThere(store: Store, path: string): Promise<Read | null> {
  try {
    return await store.getData(path);
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
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
    // The znode has been deleted in the meantime.
    if (isStoreError(error, 'NO_NODE')) return false;
    throw error;
  }
}
