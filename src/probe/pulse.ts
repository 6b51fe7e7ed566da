/**
 * Tells whether this process runs as it should, so that what arrives is seen when it arrives. A process that
 * was frozen, starved or busy finds on its return what came long before; how long before, nobody can tell.
 *
 * A beat is due every 50 ms. While one is 25 ms late, and until three came in time after a late one, the
 * process is not steady: by then it has read what had come in between. A standstill of more than 75 ms is
 * always noticed; a shorter one may make a round trip seem that much longer.
 */
import type { Clock } from '../ports/clock.js';

const beatMs = 50;
const toleranceMs = 25;
const beatsToTrust = 3;

export class StallDetector {
  readonly #clock: Clock;
  #dueAtMs = 0;
  #inTime = 0;
  #cancel = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#next();
  }

  get isSteady(): boolean {
    return this.#inTime >= beatsToTrust && !this.#isLate;
  }

  close(): void {
    this.#cancel();
  }

  get #isLate(): boolean {
    return this.#clock.monotonicMs() > this.#dueAtMs + toleranceMs;
  }

  #next(): void {
    this.#dueAtMs = this.#clock.monotonicMs() + beatMs;
    this.#cancel = this.#clock.timer(beatMs, () => {
      this.#inTime = this.#isLate ? 0 : this.#inTime + 1;
      this.#next();
    });
  }
}
