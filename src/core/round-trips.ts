/**
 * Turns the round trips that a node measured to one peer into a smoothed mean that single outliers do not
 * move.
 *
 * Mean and deviation are weighted as in TCP (RFC 6298): an eighth and a quarter for the newest measurement. A
 * measurement far from the mean is set aside. After three of these in a row, the route to the peer has
 * changed, and the mean starts again from them. So one delayed packet changes nothing, and a new route counts
 * after three probes.
 */

/** What is known about one peer. */
export interface RoundTrips {
  /** Null until there are three measurements, and after the peer has stopped answering. */
  readonly mean: { readonly ms: number; readonly deviationMs: number } | null;
  /** Consecutive measurements too far from the mean, oldest first. */
  readonly aside: readonly number[];
  /** Consecutive probes without an answer. */
  readonly missed: number;
  /** Consecutive answers without a valid measurement. */
  readonly uncounted: number;
}

export const noRoundTrips: RoundTrips = { mean: null, aside: [], missed: 0, uncounted: 0 };

const beginWith = 3;
const meanWeight = 1 / 8;
const deviationWeight = 1 / 4;
/** A measurement further than this many deviations from the mean does not fit. */
const fitDeviations = 4;
/**
 * Measurements this close to the mean always fit. A few measurements may agree more closely than any network
 * does in the long run.
 */
const leastFitShare = 0.1;
const leastFitMs = 1;
/** After this many consecutive unanswered probes, a peer counts as unreachable and its mean is dropped. */
export const mostMissed = 5;
/** A mean that this many answers in a row did not confirm is dropped. */
const mostUncounted = 60;

/** Returns the state after an answer that took `ms`. */
export function measured({ mean, aside }: RoundTrips, ms: number): RoundTrips {
  if (mean !== null && fits(mean, ms)) return { ...noRoundTrips, mean: smoothed(mean, ms) };
  const strange = [...aside, ms];
  if (strange.length < beginWith) return { ...noRoundTrips, mean, aside: strange };
  return { ...noRoundTrips, mean: beginning(strange) };
}

/**
 * Returns the state after an answer that came while one of the two processes was stalled. It proves only that
 * the peer is there.
 */
export function answeredLate({ mean, aside, uncounted }: RoundTrips): RoundTrips {
  if (uncounted + 1 < mostUncounted) return { mean, aside, missed: 0, uncounted: uncounted + 1 };
  return noRoundTrips;
}

/** Returns the state after a probe that was not answered in time. */
export function unanswered(known: RoundTrips): RoundTrips {
  const missed = known.missed + 1;
  return missed < mostMissed ? { ...known, missed } : { ...noRoundTrips, missed };
}

type Mean = NonNullable<RoundTrips['mean']>;

function fits({ ms: mean, deviationMs }: Mean, ms: number): boolean {
  const widthMs = Math.max(fitDeviations * deviationMs, leastFitShare * mean, leastFitMs);
  return Math.abs(ms - mean) <= widthMs;
}

function smoothed({ ms: mean, deviationMs }: Mean, ms: number): Mean {
  return {
    ms: mean + meanWeight * (ms - mean),
    deviationMs: deviationMs + deviationWeight * (Math.abs(ms - mean) - deviationMs),
  };
}

/** Starts a mean from the median, because one of the three may be an outlier. */
function beginning(measurements: readonly number[]): Mean {
  const sorted = measurements.toSorted((a, b) => a - b);
  const ms = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const distances = sorted.map((one) => Math.abs(one - ms)).toSorted((a, b) => a - b);
  return { ms, deviationMs: distances[Math.floor(distances.length / 2)] ?? 0 };
}
