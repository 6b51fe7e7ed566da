/** How long after a fence that failed the same claim is fenced again. */
import { backoffMs } from '../core/backoff.js';

/** Never given up: nobody leads until the fence works, the claim ends, or a person steps in. */
const longestPauseMs = 60_000;

export class FenceBackoff {
  /** By slot, of the claim that was fenced there last. */
  readonly #failures = new Map<number, { readonly token: bigint; readonly count: number }>();

  /** One more failure. `timeoutMs`: what a fence may take. */
  failed(slot: number, token: bigint, timeoutMs: number): number {
    const before = this.#failures.get(slot);
    const count = before?.token === token ? before.count + 1 : 1;
    this.#failures.set(slot, { token, count });
    return backoffMs(timeoutMs, longestPauseMs, count);
  }
}
