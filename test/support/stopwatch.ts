/**
 * Time as this process had it. Where the machine withholds its processors a tick is late, and counts once all the same: so
 * an upper bound holds on a slow or busy machine, and still tells a prompt answer from a wait for a timer.
 */

const tickMs = 10;

export interface Stopwatch extends Disposable {
  /** Since the start, in ms, to the nearest tick; never more than what a clock says. */
  readonly ms: number;
}

/** Runs until it is disposed of, or the process ends. */
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
