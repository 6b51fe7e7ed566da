/** Reads who leads in the group that this one has to be beside. */
import type { Neighbour } from '../core/beside.js';
import type { GroupConfig } from '../core/group-config.js';
import { parseJson } from '../core/names.js';
import { type GroupPaths, groupPaths } from '../core/paths.js';
import { claimSchema } from '../core/znodes.js';
import { isStoreError, type Store } from '../ports/store.js';

/** Null where there is no rule; beside itself a group is anyway. What cannot be read counts as nobody who is READY. Throws StoreError. */
export async function readNeighbour(
  store: Store,
  config: GroupConfig | null,
  own: GroupPaths,
  watch: boolean,
): Promise<Neighbour | null> {
  const root = config?.beside.group ?? null;
  if (root === null || root === own.root) return null;
  const text = await readClaimText(store, groupPaths(root).current, watch);
  const claim = text === null ? null : parseJson(claimSchema, text).value;
  return { root, leader: claim?.status === 'READY' ? { node: claim.node, site: claim.site } : null };
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
