/** Reads the machine's clocks in a form that processes of several languages share. */

/** Returns CLOCK_MONOTONIC in milliseconds, with a fraction. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Returns the number of milliseconds by which the wall clock is ahead of the monotonic one. Reads the wall
 * clock at the instant when its millisecond changes, because Node.js offers no finer resolution. That takes
 * up to a millisecond of CPU time.
 */
export function epochAheadMs(): number {
  const before = Date.now();
  let now = before;
  while (now === before) now = Date.now();
  return now - monotonicMs();
}
