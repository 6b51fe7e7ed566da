/** Decides when the next round of a loop begins: when the loop is woken, or when its waiting time is over. */
import type { Clock } from '../ports/clock.js';

/** Head start that a new leader has over nodes that its election does not concern. */
const handoverMs = 20;

export class Pacing {
  readonly #clock: Clock;
  /** Instant at which a round was first requested since the last round began. Null if none was requested. */
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

  /** Begins a round. From now on, a call to `wake` requests the next round. */
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
   * Requests a round that can wait for a new leader's claim. Defers it only if the loop is asleep and no
   * other round has been requested.
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
   * Waits until a requested round may begin, but no longer than `restMs` and not beyond the instant that
   * `dueAtMs` returns. Calls `dueAtMs` again after each timer, because the lease may have been renewed.
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

  /** Waits for a short time, so that a new leader can claim first. */
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
 * Waits for `work`. Returns null if the monotonic instant `atMs` comes first. If `atMs` is null, there is no
 * time limit.
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
