/**
 * Rules for agents that share one session. Each of these agents belongs to a different group. Even a thousand
 * agents must not put more load on the session than its connection can handle. No agent may delay another.
 */
import { ownRenewals, type Renewals } from './renewal.js';

/** A permit to read and write during one round. Only a limited number of rounds may run at the same time. */
export interface Turn {
  /** Resolves when the round may begin. */
  readonly come: Promise<void>;
  /** Ends the turn, or withdraws the request for it. Further calls have no effect. */
  end(): void;
}

export interface Sharing {
  /**
   * Whether the session may own znodes that other groups depend on. This run or an earlier run may have
   * created them. Such a session must not be ended because of a single group.
   */
  readonly isShared: boolean;
  readonly renewals: Renewals;
  /** Requests a turn for one round. */
  turn(): Turn;
  /** Longest time between rounds, in ms. It limits how long a lost event can go unnoticed. */
  readonly resyncMs: number;
  /** Interval at which the next elector checks that the elector is still making decisions, in ms. */
  readonly electorWatchdogMs: number;
}

export const usualResyncMs = 30_000;
export const usualElectorWatchdogMs = 10_000;

/** Rules for an agent with its own session. */
export const alone: Sharing = {
  isShared: false,
  renewals: ownRenewals,
  turn: () => ({ come: Promise.resolve(), end: () => {} }),
  resyncMs: usualResyncMs,
  electorWatchdogMs: usualElectorWatchdogMs,
};

/** Grants turns in the order of the requests, at most `atOnce` at a time. */
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
