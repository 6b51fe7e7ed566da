/** The machine's clocks, as processes of several languages read them. */

/** CLOCK_MONOTONIC in milliseconds, with a fraction. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Returns by how many milliseconds the wall clock is ahead of the monotonic one. Reads it at the instant when
 * its millisecond changes, because Node.js offers no finer resolution. That takes up to a millisecond of CPU
 * time.
 */
export function epochAheadMs(): number {
  const before = Date.now();
  let now = before;
  while (now === before) now = Date.now();
  return now - monotonicMs();
}
