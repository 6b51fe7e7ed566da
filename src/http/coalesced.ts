/** One piece of work for all who want its result at about the same time. */
import type { Clock } from '../ports/clock.js';

export interface CoalescedOptions<T> {
  readonly clock: Clock;
  /** From the beginning of one run to the next, at least. */
  readonly minIntervalMs: number;
  work(): Promise<T>;
}

/**
 * Never more than one run at a time, and none more often than said, whoever many ask. A run that is given to
 * somebody begins after they asked: what they did before shows in it.
 */
export class Coalesced<T> {
  readonly #options: CoalescedOptions<T>;
  #next: Promise<T> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #begunAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: CoalescedOptions<T>) {
    this.#options = options;
  }

  /** Rejects with what the work rejects with. */
  ask(): Promise<T> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<T> {
    const { clock, minIntervalMs, work } = this.#options;
    await this.#last;
    const earlyByMs = this.#begunAtMs + minIntervalMs - clock.monotonicMs();
    if (earlyByMs > 0) await new Promise<void>((resolve) => clock.timer(earlyByMs, resolve));
    this.#next = null;
    this.#begunAtMs = clock.monotonicMs();
    const run = work();
    this.#last = run.catch(() => {});
    return await run;
  }
}
