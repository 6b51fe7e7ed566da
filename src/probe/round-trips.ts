/**
 * Computes a smoothed mean of the round-trip times that a node measures to one peer. A single outlier does
 * not change the mean.
 *
 * The weights of the mean and the deviation are those of TCP (RFC 6298): the newest measurement has a weight
 * of one eighth in the mean and of one quarter in the deviation. A measurement far from the mean is set
 * aside. If three measurements in a row are set aside, the route to the peer is assumed to have changed, and
 * a new mean is computed from these three. As a result, one delayed packet changes nothing, and a new route
 * takes effect after three probes.
 */

/** State of the measurements for one peer. */
export interface RoundTrips {
  /**
   * Mean and deviation. Null until there are three measurements, and after the peer has stopped answering.
   */
  readonly mean: { readonly ms: number; readonly deviationMs: number } | null;
  /** Consecutive measurements that are too far from the mean, oldest first. */
  readonly aside: readonly number[];
  /** Number of consecutive probes without an answer. */
  readonly missed: number;
  /** Number of consecutive answers without a valid measurement. */
  readonly uncounted: number;
}

export const noRoundTrips: RoundTrips = { mean: null, aside: [], missed: 0, uncounted: 0 };

const beginWith = 3;
const meanWeight = 1 / 8;
const deviationWeight = 1 / 4;
/** A measurement may differ from the mean by up to this multiple of the smoothed deviation. */
const fitDeviations = 4;
/**
 * A measurement always fits if it is within one of these distances from the mean: a share of the mean, and a
 * number of milliseconds. These limits are needed because the first few measurements may happen to be much
 * closer to each other than later ones.
 */
const leastFitShare = 0.1;
const leastFitMs = 1;
/**
 * Number of consecutive unanswered probes after which a peer counts as unreachable and its mean is dropped.
 */
export const mostMissed = 5;
/** Number of consecutive answers without a valid measurement after which the mean is dropped. */
const mostUncounted = 60;

/** Returns the new state after an answer with a round-trip time of `ms`. */
export function measured({ mean, aside }: RoundTrips, ms: number): RoundTrips {
  if (mean !== null && fits(mean, ms)) return { ...noRoundTrips, mean: smoothed(mean, ms) };
  const strange = [...aside, ms];
  if (strange.length < beginWith) return { ...noRoundTrips, mean, aside: strange };
  return { ...noRoundTrips, mean: beginning(strange) };
}

/**
 * Returns the new state after an answer that was late, or that may be late because one of the processes was
 * stalled. Such an answer proves only that the peer is running.
 */
export function answeredLate({ mean, aside, uncounted }: RoundTrips): RoundTrips {
  if (uncounted + 1 < mostUncounted) return { mean, aside, missed: 0, uncounted: uncounted + 1 };
  return noRoundTrips;
}

/** Returns the new state after a probe that was not answered in time. */
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

/** Starts a new mean with the median of three measurements, because one of them may be an outlier. */
function beginning(measurements: readonly number[]): Mean {
  const sorted = measurements.toSorted((a, b) => a - b);
  const ms = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const distances = sorted.map((one) => Math.abs(one - ms)).toSorted((a, b) => a - b);
  return { ms, deviationMs: distances[Math.floor(distances.length / 2)] ?? 0 };
}
