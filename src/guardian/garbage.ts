/**
 * Keeps a nearly idle process small: collects its garbage before it spreads over the memory that V8 would
 * otherwise fill first.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By then, the process has started, and its agent too. */
const firstAfterMs = 5_000;
/** Often enough that little accumulates. Memory that was once touched remains in use. */
const intervalMs = 20_000;

/**
 * Collects all garbage once, which returns what starting took. Then collects only the new garbage, in less
 * than a millisecond each time.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') return;
  setTimeout(() => collect(), firstAfterMs).unref();
  setInterval(() => collect({ type: 'minor' }), intervalMs).unref();
}
