/**
 * Whether a fencing token is that of the present leadership.
 *
 * Not promised: that it still is when the answer is read. Anything may happen between the answer and what is
 * done because of it; only a store that looks at the token itself, in one step with the write, closes that.
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
  /** It is the newest that the group has given, and its leadership, or takeover, goes on. */
  valid: z.boolean(),
  /** The present leadership's; null while nobody has one. */
  newest: longSchema.nullable(),
  /** Who has it; null where that cannot be read. */
  leader: z.object({ node: nameSchema, status: z.enum(['PROGRESS', 'READY']), term: z.int() }).nullable(),
  /** One line. */
  reason: z.string(),
});
export type TokenVerdict = z.infer<typeof tokenVerdictSchema>;

/**
 * As fresh as the session that it is asked in: to open one is a committed write.
 * Throws PetrelError INVALID when there is no group at the root, StoreError when it cannot be read.
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

/** The claim that has the token, in whatever slot; else the newest of all there are. */
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

/** Null when there is none to read, or another has taken its place. */
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
  if (newest === token) return `${who} holds this token and is ${leader?.status ?? 'the leader'}`;
  if (newest > token) return `the token is outdated: ${who} holds the newer token ${newest}`;
  return `this group has never issued the token (the newest is ${newest}), unless ZooKeeper was since rebuilt or restored from a backup`;
}
