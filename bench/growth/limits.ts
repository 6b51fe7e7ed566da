/** Limits of ZooKeeper itself with its default settings. They apply on any machine. */
import { endBytes, endBytesOf, mostEndBytes } from '../../src/node/session-end.js';

/**
 * The default of jute.maxbuffer, in bytes. A client accepts no longer response, and a server no longer
 * request.
 */
export const mostFrameBytes = 0xfffff;

/** Length of a response header, which consists of xid, zxid and error. */
const replyHeaderBytes = 4 + 8 + 4;
const statBytes = 68;
const countBytes = 4;
const sequenceDigits = 10;

function textBytes(length: number): number {
  return 4 + length;
}

/** Returns the length of the response to getChildren2 for the znode `election`, without the length prefix. */
export function seatListBytes(nodes: number, idLength: number): number {
  return replyHeaderBytes + countBytes + nodes * textBytes(idLength + 1 + sequenceDigits) + statBytes;
}

export function mostSeatsInFrame(idLength: number): number {
  return Math.floor(
    (mostFrameBytes - seatListBytes(0, idLength)) / (seatListBytes(1, idLength) - seatListBytes(0, idLength)),
  );
}

/**
 * Returns the largest number of groups that an agent may lead. With more groups, the end of its session
 * crashes the servers.
 */
export function mostGroupsInSession(rootLength: number, idLength: number): number {
  const each = endBytesOf(`/${'r'.repeat(rootLength - 1)}`, 'n'.repeat(idLength));
  return Math.floor((mostEndBytes - endBytes) / each);
}
