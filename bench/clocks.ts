/** The machine's clocks, as processes of several languages read them. */

/** CLOCK_MONOTONIC in milliseconds, with a fraction. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * What the epoch's clock is ahead of the monotonic one, in milliseconds. It is read at the instant when its
 * millisecond changes, since Node.js has no finer reading of it; that takes up to a millisecond of processor.
 */
export function epochAheadMs(): number {
  const before = Date.now();
  let now = before;
  while (now === before) now = Date.now();
  return now - monotonicMs();
}
