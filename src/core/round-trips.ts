/**
 * What a node makes of the round trips that it measured to one peer: a smoothed mean, which single strange
 * measurements do not move.
 *
 * The mean and the deviation are weighted as those of TCP (RFC 6298): an eighth and a quarter for the newest.
 * A measurement far from the mean is set aside; when three in a row are, the way to the peer has changed, and
 * the measuring begins anew with these. So one packet that was held up changes nothing, and a new route
 * counts after three probes.
 */

/** What is known of one peer. */
export interface RoundTrips {
  /** Null until three measurements are there, and when the peer has stopped answering. */
  readonly mean: { readonly ms: number; readonly deviationMs: number } | null;
  /** Measurements in a row that did not fit, oldest first. */
  readonly aside: readonly number[];
  /** Probes in a row that were not answered. */
  readonly missed: number;
  /** Answers in a row that measure nothing. */
  readonly uncounted: number;
}

export const noRoundTrips: RoundTrips = { mean: null, aside: [], missed: 0, uncounted: 0 };

const beginWith = 3;
const meanWeight = 1 / 8;
const deviationWeight = 1 / 4;
/** Farther from the mean than so many deviations does not fit. */
const fitDeviations = 4;
/** A network is never as even as a few measurements may be: what is so near fits in any case. */
const leastFitShare = 0.1;
const leastFitMs = 1;
/** A peer that left so many probes in a row unanswered is not measured any more. */
export const mostMissed = 5;
/** A mean that no answer has borne out for so long is worth nothing. */
const mostUncounted = 60;

/** After an answer that took `ms`. */
export function measured({ mean, aside }: RoundTrips, ms: number): RoundTrips {
  if (mean !== null && fits(mean, ms)) return { ...noRoundTrips, mean: smoothed(mean, ms) };
  const strange = [...aside, ms];
  if (strange.length < beginWith) return { ...noRoundTrips, mean, aside: strange };
  return { ...noRoundTrips, mean: beginning(strange) };
}

/**
 * After an answer that came when one of the two did not run as it should: the peer is there, and that is all
 * it tells.
 */
export function answeredLate({ mean, aside, uncounted }: RoundTrips): RoundTrips {
  if (uncounted + 1 < mostUncounted) return { mean, aside, missed: 0, uncounted: uncounted + 1 };
  return noRoundTrips;
}

/** After a probe that was not answered in time. */
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

/** The middle one: one of the three may be strange. */
function beginning(measurements: readonly number[]): Mean {
  const sorted = measurements.toSorted((a, b) => a - b);
  const ms = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const distances = sorted.map((one) => Math.abs(one - ms)).toSorted((a, b) => a - b);
  return { ms, deviationMs: distances[Math.floor(distances.length / 2)] ?? 0 };
}
