/** The page's time. It stops for a picture whose connection is lost. */
import { useEffect, useState } from 'preact/hooks';
import type { Known } from './store.js';

/** Returns the page's monotonic clock, updated at this interval. */
export function useNow(everyMs: number): number {
  const [nowMs, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  // A component that renders between updates must not see a time before the picture's.
  return Math.max(nowMs, performance.now());
}

/** Returns the age of the picture, as far as it is known to hold: a lost link stops its clocks. */
export function sinceCameMs({ link, picture }: Known, nowMs: number): number {
  if (picture === null) return 0;
  const atMs = link.state === 'live' ? nowMs : link.heldAtMs;
  return Math.max(0, atMs - picture.cameAtMs);
}

/** Returns the ensemble's clock, in milliseconds since the epoch. */
export function ensembleNowMs(known: Known, nowMs: number): number {
  const { picture } = known;
  return picture === null ? 0 : Date.parse(picture.status.asOf) + sinceCameMs(known, nowMs);
}
