/**
 * The persistent znodes of a group. The first process that needs them creates them. If they already exist,
 * the creation counts as successful.
 */

import { PetrelError } from '../errors.js';
import type { GroupConfig } from '../model/group-config.js';
import { type GroupPaths, pathsOfSlot } from '../model/paths.js';
import { type Elected, type HistoryHead, initialElected, initialHistoryHead } from '../model/znodes.js';
import { isPermissionError, isStoreError, type Operation, type Store, StoreError } from '../ports/store.js';
import { mustBeFree, mustBeOurs } from './foreign.js';

/** A node's knowledge of a tree, from which the node can recreate the tree. */
export interface KnownTree {
  /** The group's configuration. Null if it is unknown or could not be read. */
  readonly config: GroupConfig | null;
  /** The decisions of all slots, starting with the first slot. An unknown decision is null. */
  readonly elected: readonly (Elected | null)[];
  readonly history: HistoryHead | null;
}

export const nothingKnown: KnownTree = { config: null, elected: [null], history: null };

/**
 * Creates missing znodes with their known content. If several nodes do this at the same time, the first one
 * determines the content. Throws PetrelError FORBIDDEN if a permission is missing. Throws PetrelError INVALID
 * if another application uses the path. Throws StoreError, with the code NO_NODE if the chroot does not
 * exist.
 */
export async function ensureTree(
  store: Store,
  paths: GroupPaths,
  known: KnownTree = nothingKnown,
): Promise<void> {
  await mustBeOurs(store, paths);
  if (known.config === null) await mustBeFree(store, paths);
  await createMissing(store, treeContents(paths, known));
}

/** Returns the paths of the tree's znodes with their content, in order of creation. */
export function treeContents(
  paths: GroupPaths,
  { config, elected, history }: KnownTree = nothingKnown,
): [string, string][] {
  return [
    ...ancestors(paths.root).map((path): [string, string] => [path, '']),
    [paths.config, JSON.stringify(config ?? {})],
    [paths.nodes, ''],
    [paths.election, ''],
    [paths.history, JSON.stringify(history ?? initialHistoryHead)],
    [paths.clock, ''],
    [paths.leader, ''],
    ...decisions(paths, elected, 2),
    // The first slot's decision is created last. If it exists, all other znodes exist too.
    ...decisions(paths, elected.slice(0, 1), 1),
  ];
}

/** Returns a message for operators that says which known content is used to recreate a missing tree. */
export function remadeText({ config, elected: [first] }: KnownTree): string {
  const what = 'znodes of the group are missing: creating them';
  if (config === null)
    return `${what}, but this node does not know the configuration: the pause and the priorities are lost`;
  return `${what} with the configuration${first == null ? '' : ` and the decision of term ${first.term}`} that this node last read`;
}

function decisions(paths: GroupPaths, elected: KnownTree['elected'], from: number): [string, string][] {
  return elected.slice(from - 1).map((one, index) => {
    return [pathsOfSlot(paths, from + index).elected, JSON.stringify(one ?? initialElected)];
  });
}

/** Creates the missing znodes of the slots other than the first. Throws whatever `ensureTree` throws. */
export async function ensureSlots(store: Store, paths: GroupPaths, slots: number): Promise<void> {
  const numbers = Array.from({ length: slots - 1 }, (_, index) => index + 2);
  const initial = JSON.stringify(initialElected);
  await createMissing(
    store,
    numbers.map((slot): [string, string] => [pathsOfSlot(paths, slot).elected, initial]),
  );
}

async function createMissing(store: Store, contents: readonly [string, string][]): Promise<void> {
  const stats = await Promise.all(contents.map(([path]) => store.exists(path)));
  const missing = contents.filter((_, index) => stats[index] === null);
  if (missing.length === 0 || (await createAtOnce(store, missing))) return;
  for (const [path, content] of missing) await create(store, path, content);
}

/**
 * Creates all the znodes in one commit. Returns false if another client has created some of them, or if this
 * node lacks permission for some of them.
 */
async function createAtOnce(store: Store, contents: readonly [string, string][]): Promise<boolean> {
  try {
    await store.multi(contents.map(([path, content]) => creation(path, content)));
    return true;
  } catch (error) {
    if (isStoreError(error, 'NODE_EXISTS', 'NO_NODE') || isPermissionError(error)) return false;
    throw error;
  }
}

/**
 * Creates an empty znode and its missing ancestors, unless the znode exists. Throws whatever `ensureTree`
 * throws.
 */
export async function ensurePath(store: Store, path: string): Promise<void> {
  for (const each of ancestors(path)) {
    if ((await store.exists(each)) === null) await create(store, each, '');
  }
}

async function create(store: Store, path: string, content: string): Promise<void> {
  try {
    await store.multi([creation(path, content)]);
  } catch (error) {
    if (isStoreError(error, 'NODE_EXISTS')) return;
    if (isStoreError(error, 'NO_NODE') && (await store.exists('/')) === null) {
      const right = 'create that znode, or remove the chroot from the connection string';
      throw new StoreError('NO_NODE', `the chroot of the connection string does not exist: ${right}`, {
        cause: error,
      });
    }
    throw forbidden(error, path, 'create') ?? error;
  }
}

function creation(path: string, content: string): Operation {
  return { type: 'create', path, data: Buffer.from(content), mode: 'persistent' };
}

/**
 * Returns the path and its ancestors, shortest first. The root of the connection's chroot is not included,
 * because it must already exist.
 */
function ancestors(root: string): string[] {
  const names = root.split('/').filter((name) => name !== '');
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

const isOfZnodeItself: ReadonlySet<string> = new Set(['use', 'set', 'check']);

/** Returns the error for the operator if ZooKeeper denied permission. Returns null for any other error. */
export function forbidden(error: unknown, path: string, verb: string): PetrelError | null {
  if (!isPermissionError(error)) return null;
  const right =
    'pass the credentials of an agent of the group with --auth-file, or change the ACL (petrel acl apply)';
  const at = error.path ?? path;
  const parent = at.slice(0, Math.max(1, at.lastIndexOf('/')));
  const does = verb === 'use' ? (error.verb ?? verb) : verb;
  // The parent's ACL determines which clients may create or delete its children.
  const isParents = error.code === 'NO_AUTH' && !isOfZnodeItself.has(does);
  const where = isParents ? `, because of the ACL of ${parent}` : '';
  return new PetrelError('FORBIDDEN', `no permission to ${does} ${at}${where} (${error.message}): ${right}`, {
    cause: error,
  });
}

/** Returns the error that explains why the session is over. Returns null if it is not over. */
export async function whyLost(store: Store): Promise<unknown> {
  return await store.connected().then(
    () => null,
    (error: unknown) => error,
  );
}
