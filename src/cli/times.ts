/**
 * Formats times for operators. By default, times are relative to the current time, as in "5m ago". The wide
 * layout shows exact times.
 */
import { formatDuration } from '../model/duration.js';
import { fromInstant } from '../model/names.js';
import type { Layout } from './layout.js';

/** Returns "for 5m" or, in the wide layout, "since 2026-01-01T00:00:00.000Z, 5m ago". */
export function sinceText(instant: string, nowMs: number, { isWide }: Layout): string {
  if (isWide) return `since ${instant}, ${agoText(instant, nowMs)}`;
  return `for ${formatDuration(nowMs - fromInstant(instant))}`;
}

/** Returns "for another 2h" or, in the wide layout, "until 2026-01-01T00:00:00.000Z, in 2h". */
export function untilText(instant: string, nowMs: number, { isWide }: Layout): string {
  if (isWide) return `until ${instant}, ${agoText(instant, nowMs)}`;
  return `for another ${formatDuration(fromInstant(instant) - nowMs)}`;
}

/** Returns "5m ago" or, in the wide layout, the instant. */
export function whenText(instant: string, nowMs: number, { isWide }: Layout): string {
  return isWide ? instant : agoText(instant, nowMs);
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
