/** Records that a quota leaves no room for: they are left out for a while, not tried again and again. */
import type { Commit, GroupAction } from '../../core/group-round.js';
import type { Clock } from '../../ports/clock.js';

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

  /** What is to be done now; nothing where it were a record alone. */
  leaves(each: GroupAction): GroupAction[] {
    const { slot, action } = each;
    if (action.do !== 'commit' || this.#clock.monotonicMs() >= this.#untilMs) return [each];
    return action.decisions.length === 0 ? [] : [{ slot, action: unrecorded(action) }];
  }
}

export function unrecorded(commit: Commit): Commit {
  return { ...commit, records: [], headVersion: null };
}
