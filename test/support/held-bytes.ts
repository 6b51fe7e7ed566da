/** Memory that this process really holds: measured after what is garbage is gone. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

/** Objects, and bytes outside of them. */
export function heldBytes(): number {
  if (typeof collect !== 'function') throw new Error('no garbage collector to call');
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
