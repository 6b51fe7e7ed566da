/** Formats times for operators, together with the exact instants. */
import { formatDuration } from '../model/duration.js';
import { fromInstant } from '../model/names.js';

/** Returns "2026-01-01T00:00:00.000Z, 5m ago", or "…, in 2h" for an instant in the future. */
export function instantText(instant: string, nowMs: number): string {
  return `${instant}, ${agoText(instant, nowMs)}`;
}

export function agoText(instant: string, nowMs: number): string {
  const aheadMs = fromInstant(instant) - nowMs;
  return aheadMs > 0 ? `in ${formatDuration(aheadMs)}` : `${formatDuration(-aheadMs)} ago`;
}

/** Formats a duration. Returns "-" for null. */
export function lengthText(lengthMs: number | null): string {
  if (lengthMs === null) return '-';
  return lengthMs < 10_000
    ? `${(lengthMs / 1000).toFixed(lengthMs < 1000 ? 3 : 1)}s`
    : formatDuration(lengthMs);
}
