/** Pause before the next attempt: doubles with each failure in a row. */
export function backoffMs(firstMs: number, maxMs: number, failures: number): number {
  return Math.min(Math.max(firstMs, maxMs), firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 30));
}
