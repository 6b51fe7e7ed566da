/**
 * Output of `petrel list --all`: many groups, one line each. The format is a contract with users' scripts.
 */

import * as z from 'zod';
import { errorMessage } from '../errors.js';
import { groupPaths, isGroup } from '../model/paths.js';
import { isStoreError, type Store } from '../ports/store.js';
import { withAnswers } from './judge.js';
import { type Listing, listing, type SlotListing } from './listing.js';
import type { KeptClock } from './time.js';
import { transitionText } from './transition.js';
import { type GroupReading, readGroup } from './view.js';

const slotShape = {
  /** Owner of the claim. Null if no node owns it. */
  leader: z.string().nullable(),
  /** Status of the leader. Null if there is no leader. */
  status: z.enum(['PROGRESS', 'READY']).nullable(),
  term: z.int().nullable(),
  /** Describes the change of leader that is under way. Null if no change is under way. */
  transition: z.string().nullable(),
};
export const slotLineSchema = z.object({ slot: z.int(), ...slotShape });
export type SlotLine = z.infer<typeof slotLineSchema>;

export const groupLineSchema = z.object({
  root: z.string(),
  ...slotShape,
  /**
   * State of every slot, including the first slot. The fields above describe the first slot. Empty if the
   * group could not be read.
   */
  leaders: z.array(slotLineSchema),
  elector: z.string().nullable(),
  /** Number of registered nodes. */
  nodes: z.int(),
  paused: z.boolean(),
  /** Why the group could not be read. Null if it was read. */
  problem: z.string().nullable(),
});
export type GroupLine = z.infer<typeof groupLineSchema>;
export const groupLinesSchema = z.array(groupLineSchema);

/** Maximum number of groups that are read concurrently. */
const atOnce = 16;
/** Maximum depth of the search for groups, in levels below the path at which the search starts. */
const deepest = 6;
const zooKeepersOwn = '/zookeeper';

type Closed = (path: string) => void;

/**
 * Returns the roots of the groups at and below a path, in order. If an ACL does not allow this process to
 * read a path, the path is passed to `closed` and counts as containing no groups. Throws StoreError.
 */
export async function findGroups(store: Store, under: string, closed: Closed = () => {}): Promise<string[]> {
  const found: string[] = [];
  let level = [under];
  for (let depth = 0; depth <= deepest && level.length > 0; depth++) {
    const below = await inTurns(level, async (path) => {
      const children = await childrenOf(store, path, closed);
      if (isGroup(children)) found.push(path);
      return isGroup(children) ? [] : children.map((name) => `${path === '/' ? '' : path}/${name}`);
    });
    level = below.flat().filter((path) => path !== zooKeepersOwn);
  }
  return found.toSorted();
}

export async function childrenOf(store: Store, path: string, closed: Closed): Promise<string[]> {
  try {
    return (await store.getChildren(path)).children;
  } catch (error) {
    if (!isStoreError(error, 'NO_NODE', 'NO_AUTH')) throw error;
    if (error.code === 'NO_AUTH') closed(path);
    return [];
  }
}

/**
 * Returns one line for each group, in the order of the groups. If a group cannot be read, its line says why.
 */
export async function readGroups(
  reading: Omit<GroupReading, 'paths'>,
  roots: readonly string[],
  time: KeptClock,
): Promise<GroupLine[]> {
  return await inTurns(roots, (root) => readLine(reading, root, time));
}

async function readLine(
  reading: Omit<GroupReading, 'paths'>,
  root: string,
  time: KeptClock,
): Promise<GroupLine> {
  try {
    const group = await readGroup({ ...reading, paths: groupPaths(root) });
    const nowMs = await time.nowMs(reading.store, group);
    return await withAnswers(group, (view) => lineOf(listing(view, nowMs)));
  } catch (error) {
    const nothing = { leader: null, status: null, term: null, elector: null, transition: null, leaders: [] };
    return { root, ...nothing, nodes: 0, paused: false, problem: errorMessage(error) };
  }
}

function lineOf(list: Listing): GroupLine {
  const { root, leaders, elector, nodes, paused } = list;
  return {
    root,
    ...lineOfSlot(list),
    leaders: leaders.map((each) => ({ slot: each.slot, ...lineOfSlot(each) })),
    elector,
    nodes: nodes.length,
    paused: paused !== null,
    problem: null,
  };
}

function lineOfSlot({ leader, elected, transition }: Pick<SlotListing, 'leader' | 'elected' | 'transition'>) {
  return {
    leader: leader?.node ?? null,
    status: leader?.status ?? null,
    term: elected.term,
    transition: transition === null ? null : transitionText(transition),
  };
}

async function inTurns<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += atOnce) {
    results.push(...(await Promise.all(all.slice(at, at + atOnce).map(work))));
  }
  return results;
}
