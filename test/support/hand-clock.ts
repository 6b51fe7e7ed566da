/** A clock that only the test advances. Timers fire in order, each at its own instant. */
import type { Clock } from '../../src/ports/clock.js';

/** A test in which more timers fire has found an endless loop. */
const mostSteps = 10_000;

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

export class HandClock implements Clock {
  #nowMs = 0;
  #timers: Timer[] = [];

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs;
  }

  timer(delayMs: number, fire: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, fire };
    this.#timers.push(timer);
    return () => this.#remove(timer);
  }

  turn(fire: () => void): () => void {
    queueMicrotask(fire);
    return () => {};
  }

  /** Number of timers that have neither fired nor been cancelled. */
  get armed(): number {
    return this.#timers.length;
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    let steps = 0;
    for (let timer = this.#nextBy(untilMs); timer !== undefined; timer = this.#nextBy(untilMs)) {
      steps += 1;
      if (steps > mostSteps) throw new Error(`${mostSteps} timers fired within ${ms} ms`);
      this.#remove(timer);
      this.#nowMs = Math.max(this.#nowMs, timer.atMs);
      timer.fire();
      await settled();
    }
    this.#nowMs = untilMs;
    await settled();
  }

  /** Moves the time forward while no timer fires, as in a process that was frozen. */
  freeze(ms: number): void {
    this.#nowMs += ms;
  }

  #nextBy(untilMs: number): Timer | undefined {
    return this.#timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
  }

  #remove(timer: Timer): void {
    this.#timers = this.#timers.filter((one) => one !== timer);
  }
}

/** Resolves after all promises that can settle now have settled. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Returns the value of a promise that has been fulfilled by now. Otherwise, returns 'pending'. */
export async function now<T>(promise: Promise<T>): Promise<T | 'pending'> {
  return await Promise.race([promise, settled().then((): 'pending' => 'pending')]);
}
