/**
 * Limits how much one session may own. When a session ends, servers log the paths of all its ephemeral znodes
 * as one entry. An entry longer than they can read back crashes them, and they cannot start again
 * (ZOOKEEPER-4306). ZooKeeper refuses no request before that, so a session that owns many znodes must count
 * them.
 */
import { groupPaths } from '../model/paths.js';

/**
 * The longest entry that a server with the default jute.maxbuffer, 1,048,575 bytes, still reads back: twice
 * that size.
 */
export const mostEndBytes = 2 * 0xfffff;

/** Size of the entry itself. */
export const endBytes = 100;

/** Size of the length prefix of a path in the entry. */
const lengthBytes = 4;
const sequence = '0000000000';

/**
 * Returns how much one group adds to the entry of a session: registration, scores, election znode and at most
 * one claim.
 */
export function endBytesOf(root: string, node: string): number {
  const paths = groupPaths(root);
  const owned = [paths.node(node), paths.score(node), paths.seatPrefix(node) + sequence, paths.current];
  return owned.reduce((sum, path) => sum + lengthBytes + Buffer.byteLength(path), 0);
}
