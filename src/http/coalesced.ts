/** Shares one run of some work among all callers that need its result at about the same time. */
import type { Clock } from '../ports/clock.js';

export interface CoalescedOptions<T> {
  readonly clock: Clock;
  /** Minimum time between the starts of consecutive runs, in milliseconds. */
  readonly minIntervalMs: number;
  work(): Promise<T>;
}

/**
 * Shares runs of some work among any number of callers. There is at most one run at a time, and at most one
 * run starts per interval. The run that serves a call begins after the call, so its result reflects
 * everything that the caller did before.
 */
export class Coalesced<T> {
  readonly #options: CoalescedOptions<T>;
  #next: Promise<T> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #begunAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: CoalescedOptions<T>) {
    this.#options = options;
  }

  /** Returns the result of a run that begins after this call. Rejects with the error from `work`. */
  read(): Promise<T> {
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
