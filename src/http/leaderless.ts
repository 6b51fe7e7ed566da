/**
 * For how long a slot of a group had no leader, as the elector sees it: while it is in touch, that no claim
 * is READY; while it is not, that any lease must have ended since. A node that is not the elector counts
 * nothing: it does not read the claim.
 *
 * Not counted: time in which a leader no longer acts but its claim stands, because it releases, is dead or is
 * cut off. So the result is a lower bound.
 */
export interface Sight {
  readonly isElector: boolean;
  readonly inTouch: boolean;
  /** The slot's claim is READY, or was when the group was read last. */
  readonly isLed: boolean;
  /** No lease outlives this, once out of touch. */
  readonly sessionTimeoutMs: number;
}

/** Looks come at least this often, unless the process stood still: then it has seen nothing. */
const longestGapMs = 35_000;

const nothing: Sight = { isElector: false, inTouch: false, isLed: false, sessionTimeoutMs: 0 };

export class LeaderlessTime {
  #sight = nothing;
  #atMs = 0;
  #inTouchAtMs = 0;
  #totalMs = 0;

  /** What is seen from `nowMs` on; monotonic, and never before an earlier call. */
  see(sight: Sight, nowMs: number): void {
    this.#totalMs += this.#sinceLastMs(nowMs);
    if (sight.inTouch || this.#sight.inTouch || !this.#sight.isElector) this.#inTouchAtMs = nowMs;
    this.#sight = sight;
    this.#atMs = nowMs;
  }

  /** Nothing can be read any more, so whether this node is the elector, and what it saw, stands. */
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
