/**
 * How much a session may own. When one ends, servers write the paths of all its ephemeral znodes into their
 * logs as one entry. One that is longer than they read back takes them down, and they cannot start again
 * (ZOOKEEPER-4306): no request is refused before it comes to that, so whoever owns much has to count.
 */
import { groupPaths } from '../model/paths.js';

/**
 * Of an entry that a server with the default jute.maxbuffer, 1,048,575 bytes, still reads back: that, and as
 * much again.
 */
export const mostEndBytes = 2 * 0xfffff;

/** Of the entry itself. */
export const endBytes = 100;

/** Of a path in it: its length in front. */
const lengthBytes = 4;
const sequence = '0000000000';

/**
 * What the end of a session grows by with one group that its node is in: registration, scores, seat, and one
 * claim at most.
 */
export function endBytesOf(root: string, node: string): number {
  const paths = groupPaths(root);
  const owned = [paths.node(node), paths.score(node), paths.seatPrefix(node) + sequence, paths.current];
  return owned.reduce((sum, path) => sum + lengthBytes + Buffer.byteLength(path), 0);
}
