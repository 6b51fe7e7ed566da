import type { Clock } from '../ports/clock.js';

/**
 * Does one thing at one instant. Setting the alarm again replaces that. Never fires early, even across long
 * waits.
 *
 * An alarm that is postponed, as a lease's is at every renewal, keeps its timer. The timer checks again when
 * it fires: even a cancelled timer would wake the process.
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

  /** Infinity if the alarm is not set or has fired. */
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
