/** Pauses between failed fences of the same claim. */
import { backoffMs } from '../../core/backoff.js';

/** The elector never gives up: nobody leads until the fence works, the claim ends, or a person steps in. */
const longestPauseMs = 60_000;

export class FenceBackoff {
  /** By slot: failures of the claim that was fenced there last. */
  readonly #failures = new Map<number, { readonly token: bigint; readonly count: number }>();

  /** Counts a failure and returns the pause until the next attempt. `timeoutMs`: time limit of one fence. */
  failed(slot: number, token: bigint, timeoutMs: number): number {
    const before = this.#failures.get(slot);
    const count = before?.token === token ? before.count + 1 : 1;
    this.#failures.set(slot, { token, count });
    return backoffMs(timeoutMs, longestPauseMs, count);
  }
}
