import type { Clock } from '../ports/clock.js';

/** One thing to do at an instant; setting it again replaces it. Never early, also across long waits. */
export class Alarm {
  readonly #clock: Clock;
  #atMs = Number.POSITIVE_INFINITY;
  #cancel = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Infinity when it is not set, or has rung. */
  get atMs(): number {
    return this.#atMs;
  }

  set(atMs: number, ring: () => void): void {
    this.clear();
    this.#atMs = atMs;
    if (atMs < Number.POSITIVE_INFINITY) this.#arm(ring);
  }

  clear(): void {
    this.#cancel();
    this.#atMs = Number.POSITIVE_INFINITY;
  }

  #arm(ring: () => void): void {
    this.#cancel = this.#clock.timer(this.#atMs - this.#clock.monotonicMs(), () => {
      if (this.#clock.monotonicMs() < this.#atMs) return this.#arm(ring);
      this.#atMs = Number.POSITIVE_INFINITY;
      ring();
    });
  }
}

export function sleep(clock: Clock, durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.timer(durationMs, resolve);
  });
}
