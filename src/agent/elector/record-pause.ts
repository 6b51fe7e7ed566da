/** After a quota has refused records, omits them for a while instead of retrying them constantly. */

import type { Clock } from '../../ports/clock.js';
import type { Commit, GroupAction } from '../../slots/group-round.js';

const pauseMs = 60_000;

export class RecordPause {
  readonly #clock: Clock;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(): void {
    this.#untilMs = this.#clock.monotonicMs() + pauseMs;
  }

  /**
   * Returns the action to carry out. During the pause, removes the records from the action. Returns an empty
   * list if nothing else remains.
   */
  leaves(each: GroupAction): GroupAction[] {
    const { slot, action } = each;
    if (action.do !== 'commit' || this.#clock.monotonicMs() >= this.#untilMs) return [each];
    return action.decisions.length === 0 ? [] : [{ slot, action: unrecorded(action) }];
  }
}

export function unrecorded(commit: Commit): Commit {
  return { ...commit, records: [], headVersion: null };
}
