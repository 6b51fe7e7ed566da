/** Measures the memory that this process retains after a garbage collection. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

/** Returns the size of the live objects and of the bytes outside the heap. */
export function heldBytes(): number {
  if (typeof collect !== 'function') throw new Error('no garbage collector to call');
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
