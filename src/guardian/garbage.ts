/**
 * Keeps a nearly idle process small by collecting its garbage early. Otherwise, V8 would let garbage fill
 * more memory before collecting it.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time after which the process and its agent have probably finished starting. */
const firstAfterMs = 5_000;
/**
 * Interval between collections. It is short, so that little garbage accumulates. Memory that was used once is
 * not returned to the system.
 */
const intervalMs = 20_000;

/**
 * Collects all garbage once, to free the memory that was needed for the start. After that, collects only the
 * new garbage, in less than a millisecond each time.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') return;
  setTimeout(() => collect(), firstAfterMs).unref();
  setInterval(() => collect({ type: 'minor' }), intervalMs).unref();
}
