import * as z from 'zod';

/** The root of a group, such as `/cluster`. */
export const rootSchema = z
  .string('expected an absolute path, such as /cluster')
  .regex(
    /^(?:\/[^/\p{Cc}\p{Cf}\u{d800}-\u{f8ff}\u{fff0}-\u{10ffff}]+)+$/u,
    'expected an absolute path, such as /cluster, without a trailing slash and with only visible characters that ZooKeeper allows',
  )
  .refine(
    (path) => !path.split('/').some((part) => part === '.' || part === '..'),
    'a root path must not contain . or ..',
  )
  .refine(
    (path) => path !== '/zookeeper' && !path.startsWith('/zookeeper/'),
    '/zookeeper is reserved for ZooKeeper',
  );

/** All paths of one group. No other module builds these paths. */
export interface GroupPaths {
  readonly root: string;
  readonly config: string;
  readonly nodes: string;
  readonly election: string;
  readonly scores: string;
  readonly leader: string;
  readonly elected: string;
  readonly current: string;
  readonly successor: string;
  readonly history: string;
  /**
   * A znode without content. A node writes to it in order to read the ensemble's clock from the znode's stat.
   */
  readonly clock: string;
  node(nodeId: string): string;
  score(nodeId: string): string;
  seat(name: string): string;
  seatPrefix(nodeId: string): string;
  historyRecord(name: string): string;
  readonly historyPrefix: string;
}

export function groupPaths(root: string): GroupPaths {
  const base = root === '/' ? '' : root;
  return {
    root,
    config: `${base}/config`,
    nodes: `${base}/nodes`,
    election: `${base}/election`,
    scores: `${base}/scores`,
    leader: `${base}/leader`,
    elected: `${base}/leader/elected`,
    current: `${base}/leader/current`,
    successor: `${base}/leader/successor`,
    history: `${base}/history`,
    clock: `${base}/clock`,
    node: (nodeId) => `${base}/nodes/${nodeId}`,
    score: (nodeId) => `${base}/scores/${nodeId}`,
    seat: (name) => `${base}/election/${name}`,
    seatPrefix: (nodeId) => `${base}/election/${nodeId}-`,
    historyRecord: (name) => `${base}/history/${name}`,
    historyPrefix: `${base}/history/`,
  };
}

/** Returns the paths of the claims among the children of `leader`. */
export function claimPaths({ leader, current }: GroupPaths, children: readonly string[]): string[] {
  const paths = children.map((name) => `${leader}/${name}`);
  return paths.filter((path) => path === current || path.startsWith(`${current}-`));
}

/**
 * Returns the paths with `elected` and `current` replaced by those of one slot. The first slot has the same
 * paths as a group with one leader.
 */
export function pathsOfSlot(paths: GroupPaths, slot: number): GroupPaths {
  if (slot === 1) return paths;
  return { ...paths, elected: `${paths.elected}-${slot}`, current: `${paths.current}-${slot}` };
}

const always = ['config', 'nodes', 'election', 'leader'];
const own = new Set([...always, 'history', 'clock', 'scores', 'circuit-breaker']);

/** Whether a path with these children is the root of a group. */
export function isGroup(children: readonly string[]): boolean {
  return always.every((name) => children.includes(name));
}

/**
 * Returns, in order, the possible group roots directly below a path that has these children. If the path is
 * itself a group's root, the group's own znodes are omitted.
 */
export function rootsBelow(path: string, children: readonly string[]): string[] {
  const names = isGroup(children) ? children.filter((name) => !own.has(name)) : children;
  return names.toSorted().map((name) => `${path}/${name}`);
}
