/**
 * Computes how much one session may own. When a session ends, servers log the paths of all its ephemeral
 * znodes as one entry. If an entry is too long to be read back, the servers crash and cannot start again
 * (ZOOKEEPER-4306). ZooKeeper does not refuse the requests that lead to such an entry. Therefore, a process
 * whose session owns many znodes must itself limit the length of their paths.
 */
import { groupPaths } from '../model/paths.js';

/**
 * Size in bytes of the longest entry that a server with the default jute.maxbuffer of 1,048,575 bytes can
 * still read back. It is twice that default.
 */
export const mostEndBytes = 2 * 0xfffff;

/** Size of the entry without its paths, in bytes. */
export const endBytes = 100;

/** Size of the length prefix of a path in the entry, in bytes. */
const lengthBytes = 4;
const sequence = '0000000000';

/**
 * Returns the number of bytes that one group adds to the log entry for the end of a session. The session owns
 * the group's registration, scores and election znode, and at most one claim.
 */
export function endBytesOf(root: string, node: string): number {
  const paths = groupPaths(root);
  const owned = [paths.node(node), paths.score(node), paths.seatPrefix(node) + sequence, paths.current];
  return owned.reduce((sum, path) => sum + lengthBytes + Buffer.byteLength(path), 0);
}
