import { systemClock } from '../ports/clock.js';

/** One thing to do at an instant; setting it again replaces it. Never early, also across long waits. */
export class Alarm {
  #atMs = Number.POSITIVE_INFINITY;
  #cancel = () => {};

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
    this.#cancel = systemClock.timer(this.#atMs - systemClock.monotonicMs(), () => {
      if (systemClock.monotonicMs() < this.#atMs) return this.#arm(ring);
      this.#atMs = Number.POSITIVE_INFINITY;
      ring();
    });
  }
}
