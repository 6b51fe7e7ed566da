/**
 * The only source of time. All code that waits or measures time takes a Clock, so that the same code can run
 * in simulated time. Decisions never depend on wall-clock time, which is used only to label output for
 * people.
 */
export interface Clock {
  /**
   * Returns milliseconds on a clock that never jumps (CLOCK_MONOTONIC). All processes on this machine share
   * that clock until the machine is rebooted. A process may therefore compare its own instants with those
   * that another process has read.
   */
  monotonicMs(): number;
  /** Returns milliseconds since the Unix epoch, for people and logs only. */
  wallMs(): number;
  /** Calls `fire` once, no earlier than `delayMs` from now. The returned function cancels the call. */
  timer(delayMs: number, fire: () => void): () => void;
  /**
   * Calls `fire` once, after all timers, sockets and messages that are ready now have been handled. The
   * returned function cancels the call.
   */
  turn(fire: () => void): () => void;
}

/** Longest delay that Node's timers accept. A timer with a longer delay would fire immediately. */
const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  wallMs: () => Date.now(),
  timer(delayMs, fire) {
    const handle = setTimeout(fire, Math.min(Math.max(0, Math.ceil(delayMs)), maxTimerMs));
    return () => clearTimeout(handle);
  },
  turn(fire) {
    const handle = setImmediate(fire);
    return () => clearImmediate(handle);
  },
};
