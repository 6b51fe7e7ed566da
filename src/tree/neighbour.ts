/** Reads who leads in the group that this one has to be beside. */

import type { GroupConfig } from '../model/group-config.js';
import { parseJson } from '../model/names.js';
import type { Neighbour } from '../model/neighbour.js';
import { type GroupPaths, groupPaths } from '../model/paths.js';
import { parseGroupConfig } from '../model/read-config.js';
import { claimSchema } from '../model/znodes.js';
import { isStoreError, type Store } from '../ports/store.js';

/** Of how many groups, each beside the next, it is found out whether they make a circle. */
const longestCircle = 16;

/**
 * Null where there is no rule; beside itself a group is anyway. What cannot be read counts as nobody who is
 * READY. Throws StoreError.
 */
export async function readNeighbour(
  store: Store,
  config: GroupConfig | null,
  own: GroupPaths,
  watch: boolean,
): Promise<Neighbour | null> {
  const root = config?.affinity.group ?? null;
  if (root === null || root === own.root) return null;
  const [text, goesFirst] = await Promise.all([
    readClaimText(store, groupPaths(root).current, watch),
    isFirstOfCircle(store, own.root, root),
  ]);
  const claim = text === null ? null : parseJson(claimSchema, text).value;
  const leader = claim?.status === 'READY' ? { node: claim.node, site: claim.site } : null;
  return { root, leader, goesFirst };
}

async function isFirstOfCircle(store: Store, own: string, next: string): Promise<boolean> {
  const circle = [own];
  for (let root: string | null = next; root !== own; root = await nextToWhich(store, root)) {
    if (root === null || circle.includes(root) || circle.length === longestCircle) return false;
    circle.push(root);
  }
  return circle.every((root) => own <= root);
}

/** Null where it is beside none, or what it is beside may not be read. */
async function nextToWhich(store: Store, root: string): Promise<string | null> {
  try {
    const { data } = await store.getData(groupPaths(root).config);
    return parseGroupConfig(data.toString('utf8')).value?.affinity.group ?? null;
  } catch (error) {
    if (isStoreError(error, 'NO_NODE', 'NO_AUTH')) return null;
    throw error;
  }
}

/** Null when there is none, or it may not be read; its coming is then watched for. */
async function readClaimText(store: Store, path: string, watch: boolean): Promise<string | null> {
  for (;;) {
    try {
      return (await store.getData(path, { watch })).data.toString('utf8');
    } catch (error) {
      if (!isStoreError(error, 'NO_NODE', 'NO_AUTH')) throw error;
      if (!watch || error.code === 'NO_AUTH') return null;
    }
    if ((await store.exists(path, { watch })) === null) return null;
  }
}
