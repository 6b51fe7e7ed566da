/** Decides when a loop's next round begins: when the loop is woken, or when its waiting time is over. */
import type { Clock } from '../ports/clock.js';

export class Pacing {
  readonly #clock: Clock;
  /** Instant at which a round was first requested since the last one began. Null if none was requested. */
  #wokenAtMs: number | null = null;
  #dueSinceMs: number;
  #rouse: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#dueSinceMs = clock.monotonicMs();
  }

  /**
   * Monotonic instant at which the current rounds were requested. Rounds without a wait between them count as
   * one request.
   */
  get dueSinceMs(): number {
    return this.#dueSinceMs;
  }

  /** Begins a round. A wake after this call requests a later round. */
  begin(): void {
    this.#wokenAtMs = null;
  }

  wake(): void {
    this.#wokenAtMs ??= this.#clock.monotonicMs();
    this.#rouse();
  }

  /**
   * Waits until woken, for at most `restMs` or until `dueAtMs`. Calls `dueAtMs` again after each timer,
   * because the lease may have been renewed.
   */
  async sleep(restMs: number, dueAtMs: () => number | null = () => null): Promise<void> {
    const restUntilMs = this.#clock.monotonicMs() + restMs;
    const leftMs = () => Math.min(restUntilMs, dueAtMs() ?? restUntilMs) - this.#clock.monotonicMs();
    const waitMs = leftMs();
    if (this.#wokenAtMs !== null || waitMs <= 0) {
      // Yield to timers and sockets, even if there is nothing to wait for.
      await new Promise<void>((resolve) => this.#clock.turn(resolve));
    } else {
      for (let next = waitMs; next > 0 && this.#wokenAtMs === null; next = leftMs()) await this.#timer(next);
    }
    if (waitMs > 0) this.#dueSinceMs = this.#wokenAtMs ?? this.#clock.monotonicMs();
  }

  async #timer(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.timer(waitMs, resolve);
      this.#rouse = () => {
        cancel();
        resolve();
      };
    });
    this.#rouse = () => {};
  }
}
