/**
 * Keeps a process small that does next to nothing: what it lets go of is collected before it has spread over
 * the memory that V8 would let it fill first.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By then it has started, and its agent too. */
const firstAfterMs = 5_000;
/** Often enough that little has come together, though it stays where it was once touched. */
const intervalMs = 20_000;

/**
 * All garbage once, which gives back what starting took, then the new, in less than a millisecond each time.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') return;
  setTimeout(() => collect(), firstAfterMs).unref();
  setInterval(() => collect({ type: 'minor' }), intervalMs).unref();
}
