/**
 * What a node makes of the round trips that it measured to one peer: a smoothed mean, which single strange
 * measurements do not move.
 *
 * The mean and the deviation are weighted as those of TCP (RFC 6298): an eighth and a quarter for the newest. A
 * measurement far from the mean is set aside; when three in a row are, the way to the peer has changed, and the
 * measuring begins anew with these. So one packet that was held up changes nothing, and a new route counts after three
 * probes.
 */

/** What is known of one peer. */
export interface RoundTrips {
  /** Null until three measurements are there, and when the peer has stopped answering. */
  readonly mean: { readonly ms: number; readonly deviationMs: number } | null;
  /** Measurements in a row that did not fit, oldest first. */
  readonly aside: readonly number[];
  /** Probes in a row that were not answered. */
  readonly missed: number;
}

export const noRoundTrips: RoundTrips = { mean: null, aside: [], missed: 0 };

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

/** After an answer that took `ms`. */
export function measured({ mean, aside }: RoundTrips, ms: number): RoundTrips {
  if (mean !== null && fits(mean, ms)) return { mean: smoothed(mean, ms), aside: [], missed: 0 };
  const strange = [...aside, ms];
  if (strange.length < beginWith) return { mean, aside: strange, missed: 0 };
  return { mean: beginning(strange), aside: [], missed: 0 };
}

/** After a probe that was not answered in time. */
export function unanswered({ mean, aside, missed }: RoundTrips): RoundTrips {
  if (missed + 1 < mostMissed) return { mean, aside, missed: missed + 1 };
  return { mean: null, aside: [], missed: missed + 1 };
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
