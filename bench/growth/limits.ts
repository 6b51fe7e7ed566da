/** What ZooKeeper itself does not bear, whatever the machine: by its own default settings. */
import { endBytes, endBytesOf, mostEndBytes } from '../../src/core/session-end.js';

/** jute.maxbuffer: a client takes no longer answer, a server no longer request. */
export const mostFrameBytes = 0xfffff;

/** Of an answer: xid, zxid and error. */
const replyHeaderBytes = 4 + 8 + 4;
const statBytes = 68;
const countBytes = 4;
const sequenceDigits = 10;

function textBytes(length: number): number {
  return 4 + length;
}

/** Of the answer to a getChildren2 of `election`, its length in front left off. */
export function seatListBytes(nodes: number, idLength: number): number {
  return replyHeaderBytes + countBytes + nodes * textBytes(idLength + 1 + sequenceDigits) + statBytes;
}

export function mostSeatsInFrame(idLength: number): number {
  return Math.floor(
    (mostFrameBytes - seatListBytes(0, idLength)) / (seatListBytes(1, idLength) - seatListBytes(0, idLength)),
  );
}

/** Groups that an agent may be in, leading in all of them, so that servers survive the end of its session. */
export function mostGroupsInSession(rootLength: number, idLength: number): number {
  const each = endBytesOf(`/${'r'.repeat(rootLength - 1)}`, 'n'.repeat(idLength));
  return Math.floor((mostEndBytes - endBytes) / each);
}
