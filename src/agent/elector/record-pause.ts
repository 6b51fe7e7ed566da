/** Omits records for a while after a quota refused them, instead of retrying them constantly. */

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

  /** Returns the actions that remain after the records are omitted. Empty if the action was only a record. */
  leaves(each: GroupAction): GroupAction[] {
    const { slot, action } = each;
    if (action.do !== 'commit' || this.#clock.monotonicMs() >= this.#untilMs) return [each];
    return action.decisions.length === 0 ? [] : [{ slot, action: unrecorded(action) }];
  }
}

export function unrecorded(commit: Commit): Commit {
  return { ...commit, records: [], headVersion: null };
}
