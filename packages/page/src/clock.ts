/** The page's clocks. They stop while the page's connection is lost. */
import { useEffect, useState } from 'preact/hooks';
import type { Known } from './store.js';

/**
 * Returns the time on the page's monotonic clock. Renders the component again every `everyMs` milliseconds.
 */
export function useNow(everyMs: number): number {
  const [nowMs, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  // A component that renders between two updates must not see a time earlier than the arrival of the status.
  return Math.max(nowMs, performance.now());
}

/**
 * Returns the time since the status arrived. While the link is not live, this time stops at the instant when
 * the status was last known to be current.
 */
export function sinceCameMs({ link, picture }: Known, nowMs: number): number {
  if (picture === null) return 0;
  const atMs = link.state === 'live' ? nowMs : link.heldAtMs;
  return Math.max(0, atMs - picture.cameAtMs);
}

/** Returns the time on the ensemble's clock, in milliseconds since the epoch. */
export function ensembleNowMs(known: Known, nowMs: number): number {
  const { picture } = known;
  return picture === null ? 0 : Date.parse(picture.status.asOf) + sinceCameMs(known, nowMs);
}
