/** Decides when a loop's next round begins: when it is woken, or when its waiting time is over. */
import type { Clock } from '../ports/clock.js';

/** Time that a new leader gets before nodes that its election does not concern act on it. */
const handoverMs = 20;

export class Pacing {
  readonly #clock: Clock;
  /** Instant at which a round was first requested since the last one began. Null if none was requested. */
  #wokenAtMs: number | null = null;
  /** Instant before which a requested round does not begin. */
  #deferredUntilMs = Number.NEGATIVE_INFINITY;
  /** Whether the requested round must not be deferred. */
  #isUrgent = false;
  #isAsleep = false;
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
    this.#isUrgent = false;
    this.#deferredUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Requests a round, which begins at once unless it is deferred. */
  wake(): void {
    this.#wokenAtMs ??= this.#clock.monotonicMs();
    this.#rouse();
  }

  /**
   * Requests a round that can wait for a new leader's claim. Defers it unless it is urgent or due by itself.
   */
  wakeLater(): void {
    const isFirst = this.#deferredUntilMs === Number.NEGATIVE_INFINITY && this.#wokenAtMs === null;
    if (isFirst && !this.#isUrgent && this.#isAsleep)
      this.#deferredUntilMs = this.#clock.monotonicMs() + handoverMs;
    this.wake();
  }

  /** Requests an urgent round, which is not deferred. */
  wakeNow(): void {
    this.#isUrgent = true;
    this.#deferredUntilMs = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  /**
   * Waits until a requested round may begin, for at most `restMs` or until `dueAtMs`. Calls `dueAtMs` again
   * after each timer, because the lease may have been renewed.
   */
  async sleep(restMs: number, dueAtMs: () => number | null = () => null): Promise<void> {
    const restUntilMs = this.#clock.monotonicMs() + restMs;
    const leftMs = () => {
      const wakesAtMs = this.#wokenAtMs === null ? restUntilMs : this.#deferredUntilMs;
      return Math.min(restUntilMs, wakesAtMs, dueAtMs() ?? restUntilMs) - this.#clock.monotonicMs();
    };
    const waitMs = leftMs();
    if (waitMs <= 0) {
      // Yield to timers and sockets, even if there is nothing to wait for.
      await new Promise<void>((resolve) => this.#clock.turn(resolve));
    } else {
      this.#isAsleep = true;
      for (let next = waitMs; next > 0; next = leftMs()) await this.#timer(next);
      this.#isAsleep = false;
    }
    if (waitMs > 0) this.#dueSinceMs = this.#wokenAtMs ?? this.#clock.monotonicMs();
  }

  /** Waits for a new leader's claim. */
  async giveWay(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.timer(handoverMs, resolve));
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

/**
 * Waits for `work`. Returns null if `atMs`, a monotonic instant, comes first. Null means that it never comes.
 */
export async function beforeInstant<T>(
  clock: Clock,
  atMs: number | null,
  work: Promise<T>,
): Promise<T | null> {
  if (atMs === null) return await work;
  let cancel = () => {};
  const due = new Promise<null>((resolve) => {
    cancel = clock.timer(atMs - clock.monotonicMs(), () => resolve(null));
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, due]);
  } finally {
    cancel();
  }
}
