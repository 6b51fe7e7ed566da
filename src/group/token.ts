/**
 * Checks whether a fencing token belongs to the current leadership.
 *
 * Not promised: that the token is still valid when the caller reads the answer. Anything may happen between
 * the answer and an action based on it. Only a store that checks the token itself, atomically with the write,
 * closes that gap.
 */
import * as z from 'zod';
import { longSchema, nameSchema, parseJson } from '../model/names.js';
import { claimPaths, type GroupPaths } from '../model/paths.js';
import { claimSchema } from '../model/znodes.js';
import { isStoreError, type Stat, type Store } from '../ports/store.js';
import type { GroupAccess } from './config-write.js';
import { noGroup } from './no-group.js';

export const tokenVerdictSchema = z.object({
  root: z.string(),
  token: longSchema,
  /** True if the token is the newest in its slot, and the leadership that it belongs to has not ended. */
  valid: z.boolean(),
  /** Token of the current leadership. Null if there is none. */
  newest: longSchema.nullable(),
  /** The node that has the newest token. Null if the claim cannot be read. */
  leader: z.object({ node: nameSchema, status: z.enum(['PROGRESS', 'READY']), term: z.int() }).nullable(),
  /** Reason for the verdict, in one line. */
  reason: z.string(),
});
export type TokenVerdict = z.infer<typeof tokenVerdictSchema>;

/**
 * Checks a token. Opening a session is a committed write. The result is therefore at least as recent as the
 * opening of the store's session. Throws PetrelError INVALID if there is no group at the root, and StoreError
 * if the group cannot be read.
 */
export async function verifyToken({ store, paths }: GroupAccess, token: bigint): Promise<TokenVerdict> {
  const { current, claim } = await newestClaim(store, paths, token);
  if (claim === null && (await store.exists(paths.elected)) === null) throw await noGroup(store, paths);
  const leader = claim === null ? null : await leaderOf(store, current, claim);
  const newest = claim?.czxid ?? null;
  return {
    root: paths.root,
    token: String(token),
    valid: newest === token,
    newest: newest === null ? null : String(newest),
    leader,
    reason: reasonFor(token, newest, leader),
  };
}

/**
 * Returns the claim with this token, which may be in any slot. If no claim has this token, returns the newest
 * claim.
 */
async function newestClaim(
  store: Store,
  paths: GroupPaths,
  token: bigint,
): Promise<{ current: string; claim: Stat | null }> {
  const claims = await Promise.all(
    (await claimsOf(store, paths)).map(async (current) => ({ current, claim: await store.exists(current) })),
  );
  const held = claims.flatMap(({ current, claim }) => (claim === null ? [] : [{ current, claim }]));
  const newestFirst = held.toSorted((a, b) => (a.claim.czxid < b.claim.czxid ? 1 : -1));
  const found = newestFirst.find(({ claim }) => claim.czxid === token) ?? newestFirst[0];
  return found ?? { current: paths.current, claim: null };
}

async function claimsOf(store: Store, paths: GroupPaths): Promise<string[]> {
  try {
    return claimPaths(paths, (await store.getChildren(paths.leader)).children);
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return [];
    throw error;
  }
}

/**
 * Returns the node that made the claim. Null if the claim does not exist, cannot be read, or was replaced.
 */
async function leaderOf(store: Store, path: string, claim: Stat): Promise<TokenVerdict['leader']> {
  try {
    const { data, stat } = await store.getData(path);
    const { value } = parseJson(claimSchema, data.toString('utf8'));
    if (value === null || stat.czxid !== claim.czxid) return null;
    const { node, status, term } = value;
    return { node, status, term };
  } catch (error) {
    if (isStoreError(error, 'NO_NODE') || isStoreError(error, 'NO_AUTH')) return null;
    throw error;
  }
}

function reasonFor(token: bigint, newest: bigint | null, leader: TokenVerdict['leader']): string {
  if (newest === null) return 'the group has no leader: the leadership of this token has ended';
  const who = leader === null ? 'the leader' : `${leader.node}, in term ${leader.term},`;
  if (newest === token) return `${who} holds this token${leader === null ? '' : ` and is ${leader.status}`}`;
  if (newest > token) return `the token is outdated: ${who} holds the newer token ${newest}`;
  return `unless ZooKeeper has since been rebuilt or restored from a backup, this group has never issued the token (the newest is ${newest})`;
}
