/**
 * Rules for agents of several groups that share one session. Even a thousand agents must not burden the
 * session more than its connection can bear, and no agent delays another.
 */
import { ownRenewals, type Renewals } from './renewal.js';

/** A place among the rounds that may read and write at the same time. */
export interface Turn {
  /** Resolves when the turn has come. */
  readonly come: Promise<void>;
  /** Ends the turn, or withdraws it. Further calls change nothing. */
  end(): void;
}

export interface Sharing {
  /**
   * Whether the session may own what other groups depend on, now or from an earlier run. It is then not ended
   * for a single group.
   */
  readonly isShared: boolean;
  readonly renewals: Renewals;
  /** Requests a turn for one round. */
  turn(): Turn;
  /** A round happens at least this often, so even a lost event has no permanent effect. */
  readonly resyncMs: number;
  /** How often the next elector checks whether the elector decides. */
  readonly electorWatchdogMs: number;
}

export const usualResyncMs = 30_000;
export const usualElectorWatchdogMs = 10_000;

/** For an agent with its own session. */
export const alone: Sharing = {
  isShared: false,
  renewals: ownRenewals,
  turn: () => ({ come: Promise.resolve(), end: () => {} }),
  resyncMs: usualResyncMs,
  electorWatchdogMs: usualElectorWatchdogMs,
};

/** Hands out turns in the order of the requests, at most `atOnce` at a time. */
export class Turns {
  readonly #atOnce: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  take(): Turn {
    let hasCome = false;
    let isOver = false;
    let begin = () => {};
    const come = new Promise<void>((resolve) => {
      begin = () => {
        hasCome = true;
        this.#running += 1;
        resolve();
      };
    });
    if (this.#running < this.#atOnce) begin();
    else this.#waiting.add(begin);
    return {
      come,
      end: () => {
        if (isOver) return;
        isOver = true;
        this.#waiting.delete(begin);
        if (hasCome) this.#ended();
      },
    };
  }

  #ended(): void {
    this.#running -= 1;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next();
  }
}
