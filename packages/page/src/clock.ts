/** Time as it goes by on the page, and as it stands still with a picture that does. */
import { useEffect, useState } from 'preact/hooks';
import type { Known } from './store.js';

/** The page's monotonic clock, looked at so often. */
export function useNow(everyMs: number): number {
  const [nowMs, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  // Whoever renders in between must not see a time before the picture's.
  return Math.max(nowMs, performance.now());
}

/** How long ago the picture came, as far as it is known to hold: a lost link stops its clocks. */
export function sinceCameMs({ link, picture }: Known, nowMs: number): number {
  if (picture === null) return 0;
  const atMs = link.state === 'live' ? nowMs : link.heldAtMs;
  return Math.max(0, atMs - picture.cameAtMs);
}

/** The ensemble's clock, in milliseconds since the epoch. */
export function ensembleNowMs(known: Known, nowMs: number): number {
  const { picture } = known;
  return picture === null ? 0 : Date.parse(picture.status.asOf) + sinceCameMs(known, nowMs);
}
