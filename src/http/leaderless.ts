/**
 * Measures how long a slot of a group was without a leader, as observed by the elector. While the elector is
 * connected, it counts the time without a READY claim. While it is disconnected, it counts only the time
 * during which no lease can still be valid. A node that is not the elector measures nothing, because it does
 * not read the claim.
 *
 * Not counted: time during which a leader no longer acts but its claim remains, because the leader's release
 * is still running, or because the leader is dead or cut off. The result is therefore a lower bound.
 */
export interface Sight {
  readonly isElector: boolean;
  readonly inTouch: boolean;
  /** Whether the slot's claim was READY when the group was last read. */
  readonly isLed: boolean;
  /**
   * Session timeout in milliseconds. After connectivity is lost, no lease remains valid for longer than this.
   */
  readonly sessionTimeoutMs: number;
}

/**
 * Longest normal time between observations, in milliseconds. A longer gap means that the process was stalled
 * and observed nothing.
 */
const longestGapMs = 35_000;

const nothing: Sight = { isElector: false, inTouch: false, isLed: false, sessionTimeoutMs: 0 };

export class LeaderlessTime {
  #sight = nothing;
  #atMs = 0;
  #inTouchAtMs = 0;
  #totalMs = 0;

  /**
   * Records the state that is observed from `nowMs` on. `nowMs` is a time on the monotonic clock, and is
   * never earlier than in a previous call.
   */
  see(sight: Sight, nowMs: number): void {
    this.#totalMs += this.#sinceLastMs(nowMs);
    if (sight.inTouch || this.#sight.inTouch || !this.#sight.isElector) this.#inTouchAtMs = nowMs;
    this.#sight = sight;
    this.#atMs = nowMs;
  }

  /**
   * Records that the group can no longer be read. The last observation is kept, including whether this node
   * is the elector.
   */
  loseSight(nowMs: number): void {
    this.see({ ...this.#sight, inTouch: false }, nowMs);
  }

  totalMs(nowMs: number): number {
    return this.#totalMs + this.#sinceLastMs(nowMs);
  }

  #sinceLastMs(nowMs: number): number {
    const { isElector, inTouch, isLed, sessionTimeoutMs } = this.#sight;
    if (!isElector || (inTouch && isLed)) return 0;
    const ledUntilMs = isLed ? this.#inTouchAtMs + sessionTimeoutMs : this.#atMs;
    return Math.min(longestGapMs, Math.max(0, nowMs - Math.max(this.#atMs, ledUntilMs)));
  }
}
