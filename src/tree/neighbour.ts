/** Reads the leader of the group that this group's affinity names. */

import type { GroupConfig } from '../model/group-config.js';
import { parseJson } from '../model/names.js';
import type { Neighbour } from '../model/neighbour.js';
import { type GroupPaths, groupPaths } from '../model/paths.js';
import { parseGroupConfig } from '../model/read-config.js';
import { claimSchema } from '../model/znodes.js';
import { isStoreError, type Store } from '../ports/store.js';

/** Maximum number of groups to follow when searching for a cycle of affinities. */
const longestCircle = 16;

/**
 * Returns the state of the other group. Returns null if there is no affinity rule, or if the rule names the
 * group itself. If the claim cannot be read, the group counts as having no READY leader. Throws StoreError.
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

/**
 * Returns the group that is named by the affinity of the group at `root`. Returns null if there is none, or
 * if this client has no permission to read the configuration.
 */
async function nextToWhich(store: Store, root: string): Promise<string | null> {
  try {
    const { data } = await store.getData(groupPaths(root).config);
    return parseGroupConfig(data.toString('utf8')).value?.affinity.group ?? null;
  } catch (error) {
    if (isStoreError(error, 'NO_NODE', 'NO_AUTH')) return null;
    throw error;
  }
}

/**
 * Returns the text of a claim. Returns null if there is no claim, or if this client has no permission to read
 * it. With `watch`, also watches for the creation of a missing claim.
 */
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
