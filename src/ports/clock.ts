/**
 * The one way to time. Everything that waits or measures takes a Clock, so that the same code runs in
 * simulated time. Wall-clock time decides nothing; it only labels what people read.
 */
export interface Clock {
  /**
   * Milliseconds on a clock that never jumps and is shared by all processes of this machine since its boot
   * (CLOCK_MONOTONIC): an instant taken in one process may be compared in another.
   */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch, for people and logs only. */
  wallMs(): number;
  /** Calls `fire` once, no earlier than `delayMs` from now. The returned function cancels. */
  timer(delayMs: number, fire: () => void): () => void;
  /**
   * Calls `fire` once everything that waits at this instant (timers that are due, sockets, messages) had its
   * turn. The returned function cancels.
   */
  turn(fire: () => void): () => void;
}

/** Longest delay that Node's timers take; a longer one would fire at once. */
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
