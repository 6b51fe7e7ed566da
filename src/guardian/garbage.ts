/**
 * Keeps a nearly idle process small by collecting its garbage early. Otherwise, V8 would first let garbage
 * fill more memory.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time after which the process and its agent have started. */
const firstAfterMs = 5_000;
/**
 * Interval between collections. It is short, so little garbage accumulates. Memory that was once touched
 * remains in use.
 */
const intervalMs = 20_000;

/**
 * Collects all garbage once, which frees the memory that the start needed. After that, collects only the new
 * garbage, in less than a millisecond each time.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') return;
  setTimeout(() => collect(), firstAfterMs).unref();
  setInterval(() => collect({ type: 'minor' }), intervalMs).unref();
}
