/**
 * The only source of time. All code that waits or measures takes a Clock, so that the same code runs in
 * simulated time. Wall-clock time decides nothing. It only labels output for people.
 */
export interface Clock {
  /**
   * Milliseconds on a clock that never jumps and that all processes of this machine share since its boot
   * (CLOCK_MONOTONIC). An instant taken in one process may be compared in another.
   */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch, for people and logs only. */
  wallMs(): number;
  /** Calls `fire` once, no earlier than `delayMs` from now. The returned function cancels. */
  timer(delayMs: number, fire: () => void): () => void;
  /**
   * Calls `fire` once everything that is ready at this instant (due timers, sockets, messages) has had its
   * turn. The returned function cancels.
   */
  turn(fire: () => void): () => void;
}

/** Longest delay that Node's timers accept. A longer one would fire immediately. */
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
