/**
 * What agents of several groups that share one session keep to, so that a thousand of them are no more of a
 * burden to the session than its connection can carry, and none holds up another.
 */
import { ownRenewals, type Renewals } from './renewal.js';

/** A place among those that read and write at once. */
export interface Turn {
  /** Resolves when it has come. */
  readonly come: Promise<void>;
  /** Over, or not wanted any more. Calling it again changes nothing. */
  end(): void;
}

export interface Sharing {
  /**
   * The session may hold what other groups live by, now or in an earlier life: it is not ended for the sake
   * of one.
   */
  readonly isShared: boolean;
  readonly renewals: Renewals;
  /** For one round. */
  turn(): Turn;
  /** A round happens at least this often, so that not even a lost event is for ever. */
  readonly resyncMs: number;
  /** How often the next in line looks whether the elector decides. */
  readonly electorWatchdogMs: number;
}

export const usualResyncMs = 30_000;
export const usualElectorWatchdogMs = 10_000;

/** Of an agent with a session of its own. */
export const alone: Sharing = {
  isShared: false,
  renewals: ownRenewals,
  turn: () => ({ come: Promise.resolve(), end: () => {} }),
  resyncMs: usualResyncMs,
  electorWatchdogMs: usualElectorWatchdogMs,
};

/** Hands out turns in the order in which they are asked for, at most `atOnce` at a time. */
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
