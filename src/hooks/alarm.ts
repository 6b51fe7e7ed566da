import type { Clock } from '../ports/clock.js';

/**
 * Calls a function at a given instant. Setting the alarm again replaces the function and the instant. The
 * alarm never fires early, even after a long wait.
 *
 * Postponing the alarm keeps its timer. The reason is that a lease's alarm is postponed at every renewal, and
 * even a cancelled timer would wake the process. If the timer fires before the alarm is due, the timer is set
 * again.
 */
export class Alarm {
  readonly #clock: Clock;
  #atMs = Number.POSITIVE_INFINITY;
  #ring = () => {};
  /** Instant at which the timer fires. */
  #firesAtMs = Number.POSITIVE_INFINITY;
  #cancel = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Instant for which the alarm is set. Infinity if the alarm is not set or has fired. */
  get atMs(): number {
    return this.#atMs;
  }

  set(atMs: number, ring: () => void): void {
    this.#atMs = atMs;
    this.#ring = ring;
    if (atMs === Number.POSITIVE_INFINITY) this.clear();
    else if (atMs < this.#firesAtMs) this.#arm();
  }

  clear(): void {
    this.#cancel();
    this.#firesAtMs = this.#atMs = Number.POSITIVE_INFINITY;
  }

  #arm(): void {
    this.#cancel();
    this.#firesAtMs = this.#atMs;
    this.#cancel = this.#clock.timer(this.#atMs - this.#clock.monotonicMs(), () => {
      if (this.#clock.monotonicMs() < this.#atMs) return this.#arm();
      this.#firesAtMs = this.#atMs = Number.POSITIVE_INFINITY;
      this.#ring();
    });
  }
}

export function sleep(clock: Clock, durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.timer(durationMs, resolve);
  });
}
