/**
 * Detects stalls of this process. While the process is running steadily, it sees each packet as soon as the
 * packet arrives. After it has been frozen, starved or busy, it finds packets that arrived earlier, but
 * cannot know how much earlier.
 *
 * A beat is due every 50 ms. If a beat is more than 25 ms late, the process counts as unsteady until three
 * consecutive beats have been on time. By then, the process has read everything that arrived in the meantime.
 * A stall of more than 75 ms is always noticed. A shorter stall may make a round trip seem longer by the
 * length of the stall.
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
