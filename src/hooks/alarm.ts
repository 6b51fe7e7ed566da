import type { Clock } from '../ports/clock.js';

/**
 * One thing to do at an instant; setting it again replaces it. Never early, also across long waits.
 *
 * One that is put off, as a lease's is at every renewal, keeps the timer that it has, which looks again when
 * it fires: a timer that is cancelled wakes the process all the same.
 */
export class Alarm {
  readonly #clock: Clock;
  #atMs = Number.POSITIVE_INFINITY;
  #ring = () => {};
  /** When the timer fires. */
  #firesAtMs = Number.POSITIVE_INFINITY;
  #cancel = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Infinity when it is not set, or has rung. */
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
