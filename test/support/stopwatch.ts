/**
 * A stopwatch that counts only the time in which this process was able to run. On a busy machine, a late tick
 * still counts as one tick. So an upper bound on the measured time is reliable there, and still distinguishes
 * a prompt answer from a wait for a timer.
 */

const tickMs = 10;

export interface Stopwatch extends Disposable {
  /** Milliseconds since the start, rounded to a tick. Never more than the time that has really elapsed. */
  readonly ms: number;
}

/** Starts a stopwatch that runs until it is disposed of, or the process ends. */
export function startStopwatch(): Stopwatch {
  let ticks = 0;
  const startedAtMs = performance.now();
  const timer = setInterval(() => {
    ticks += 1;
  }, tickMs);
  timer.unref();
  return {
    get ms() {
      return Math.min(ticks * tickMs, performance.now() - startedAtMs);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
