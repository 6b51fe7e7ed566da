/** Pauses between failed fences of the same claim. */
import { doubledMs } from '../../model/duration.js';

/** Nobody leads until a fence works, the claim ends, or a person steps in. */
const longestPauseMs = 60_000;

export class FenceBackoff {
  /** By slot: failures of the claim that was fenced there last. */
  readonly #failures = new Map<number, { readonly token: bigint; readonly count: number }>();

  /** Counts a failure, and returns how many there were and the pause until the next attempt. `timeoutMs`: of one fence. */
  failed(
    slot: number,
    token: bigint,
    timeoutMs: number,
  ): { readonly count: number; readonly pauseMs: number } {
    const before = this.#failures.get(slot);
    const count = before?.token === token ? before.count + 1 : 1;
    this.#failures.set(slot, { token, count });
    return { count, pauseMs: doubledMs(timeoutMs, longestPauseMs, count) };
  }
}
