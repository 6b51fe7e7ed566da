import { type Clock, systemClock } from '../../src/ports/clock.js';

/**
 * The system's clock with a function that jumps forward while no timer fires, as in a process that was
 * frozen.
 */
export class JumpingClock implements Clock {
  #aheadMs = 0;

  jump(forwardMs: number): void {
    this.#aheadMs += forwardMs;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.#aheadMs;
  }

  wallMs(): number {
    return systemClock.wallMs() + this.#aheadMs;
  }

  timer(delayMs: number, fire: () => void): () => void {
    return systemClock.timer(delayMs, fire);
  }

  turn(fire: () => void): () => void {
    return systemClock.turn(fire);
  }
}
