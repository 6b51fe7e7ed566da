/**
 * The theory of announce–listen, as far as E. Schooler's chapter on leader election states it. Where a
 * printed formula differs from the derived one, this module contains both. N is the number of nodes, R = N−1
 * the number of receivers, and l the loss. TA, TL, TS and Δ are explained in `Conditions`.
 */

import { type Conditions, listenMs, meanDelayMs } from '../conditions.js';
import type { Expectation } from '../protocol.js';

export interface Variant {
  readonly name: string;
  readonly title: string;
  /** Whether a node waits for up to TS before it announces itself. */
  readonly waits: boolean;
  readonly prefers: 'highest' | 'earliest';
  readonly bye: boolean;
  readonly query: boolean;
}

/** Returns the mean wait of the node that will lead, among `n` nodes that wait for up to TS. */
export function meanWaitMs(
  variant: Pick<Variant, 'waits' | 'prefers'>,
  n: number,
  suppressMs: number,
): number {
  if (!variant.waits) return 0;
  return variant.prefers === 'earliest' ? suppressMs / (n + 1) : suppressMs / 2;
}

/**
 * Returns the mean number of announcements that are lost before one arrives, if all receivers lose the same
 * ones.
 */
export function lostInRow(loss: number): number {
  return loss / (1 - loss);
}

/**
 * Returns A, the mean number of announcements until each of R receivers has heard one, if each loses its own.
 * The chapter has an alternating sum of binomials. This function sums P(some receiver has heard none of k
 * announcements) instead, which does not alternate.
 */
export function attemptsUntilAllHear(receivers: number, loss: number): number {
  if (loss === 0 || receivers === 0) return receivers === 0 ? 0 : 1;
  let attempts = 0;
  for (let k = 0; k < 100_000; k += 1) {
    const someMissing = -Math.expm1(receivers * Math.log1p(-(loss ** k)));
    if (someMissing < 1e-15) break;
    attempts += someMissing;
  }
  return attempts;
}

/** Returns A by the formula that the chapter prints. It is exact for few receivers and useless for many. */
export function attemptsAsPrinted(receivers: number, loss: number): number {
  let sum = 0;
  let binomial = 1;
  for (let i = 1; i <= receivers; i += 1) {
    binomial *= (receivers - i + 1) / i;
    sum += ((-1) ** (i + 1) * binomial) / (1 - loss ** i);
  }
  return sum;
}

/**
 * Returns the time that loss adds between the new leader's first announcement and the instant at which all
 * nodes have heard it.
 */
export function lossDelayMs({ nodes, loss, correlated, announceMs }: Conditions): number {
  if (loss === 0) return 0;
  return announceMs * (correlated ? lostInRow(loss) : attemptsUntilAllHear(nodes - 1, loss) - 1);
}

/**
 * Returns the number of nodes that announce themselves while nodes wait for up to TS. With uniform waits it
 * is N·P(Δ) + ∫ p(t)·[1−(1−cP(t−Δ))^N]/(cP(t−Δ)) dt, where c = 1−l under correlated loss. The integral then
 * becomes a sum.
 */
export function suppressionMessages(n: number, delayMs: number, suppressMs: number, loss = 0): number {
  const early = Math.min(1, delayMs / suppressMs);
  const heard = 1 - loss;
  let sum = 0;
  for (let k = 1; k <= n; k += 1) sum += (1 - (1 - heard * (1 - early)) ** k) / k;
  return n * early + sum / heard;
}

/**
 * Returns the mean time from the leader's crash to agreement on the next leader: TL + 2Δ − E[td] + E[ts]. The
 * time td since the leader's last announcement has the mean TA/2. Correlated loss does not change the sum. It
 * shortens the first term, because the last announcement heard is older, and lengthens the last term by the
 * same amount.
 */
export function reestablishMs(variant: Variant, given: Conditions): number {
  const { nodes, announceMs, suppressMs, delay } = given;
  const waitMs = meanWaitMs(variant, nodes - 1, suppressMs);
  return listenMs(given) + 2 * meanDelayMs(delay) - announceMs / 2 + waitMs;
}

/**
 * Whether false alarms are impossible. That requires TA ≥ TS + Δ, and TL ≥ TA without loss. With loss, TL
 * must exceed TA times the mean number of announcements lost in a row.
 */
export function hasNoFalseAlarms(given: Conditions): boolean {
  return isPatient(given) && given.announceMs >= given.suppressMs + meanDelayMs(given.delay);
}

function isPatient(given: Conditions): boolean {
  const { loss, announceMs } = given;
  const listen = listenMs(given);
  return loss === 0 ? listen >= announceMs : listen > announceMs * lostInRow(loss);
}

export function announceListenTheory(variant: Variant, given: Conditions): Expectation[] {
  if (given.delay.kind !== 'constant' || given.nodes < 2 || !isPatient(given)) return [];
  switch (given.scenario) {
    case 'start':
      return ofStart(variant, given);
    case 'crash':
    case 'bye':
      return ofDeparture(variant, given);
    case 'join':
      return ofJoin(variant, given);
    default:
      return [];
  }
}

function ofStart(variant: Variant, given: Conditions): Expectation[] {
  const { nodes, suppressMs, announceMs, loss, correlated } = given;
  // Answers to queries are additional announcements. An answer may arrive where the first announcement did
  // not.
  if (variant.query && loss > 0) return [];
  const deltaMs = meanDelayMs(given.delay);
  const isByNumber = variant.prefers === 'highest';
  const waitMs = meanWaitMs(variant, nodes, suppressMs);
  const time: Expectation = {
    measure: 'time',
    value: waitMs + lossDelayMs(given) + deltaMs,
    kind: variant.waits || loss > 0 ? 'mean' : 'exact',
    source: loss === 0 ? 'E[ts] + Δ' : correlated ? 'E[ts] + TA·l/(1−l) + Δ' : 'E[ts] + TA·(A−1) + Δ',
  };
  const sent: Expectation = {
    measure: 'suppression messages',
    value: suppressionMessages(nodes, deltaMs, suppressMs, loss),
    kind: 'mean',
    source: 'announcements while nodes wait, N·P(Δ) + ∫ …',
  };
  const alarms: Expectation = {
    measure: 'alarms',
    value: 0,
    kind: 'exact',
    source: 'no false alarms: TL ≥ TA ≥ TS + Δ',
  };
  // The formula does not cover a leader that announces itself again within TS.
  const isSent = isByNumber && variant.waits && (loss === 0 || correlated) && announceMs >= suppressMs;
  return [
    ...(isByNumber || loss === 0 ? [time] : []),
    ...(isSent ? [sent] : []),
    ...(loss === 0 && hasNoFalseAlarms(given) ? [alarms] : []),
  ];
}

function ofDeparture(variant: Variant, given: Conditions): Expectation[] {
  const { loss, correlated, nodes, suppressMs } = given;
  if (loss > 0 && (!correlated || variant.prefers === 'earliest')) return [];
  if (variant.bye && given.scenario === 'bye') {
    if (loss > 0) return [];
    const value = 2 * meanDelayMs(given.delay) + meanWaitMs(variant, nodes - 1, suppressMs);
    return [{ measure: 'time', value, kind: 'mean', source: '2Δ + E[ts]' }];
  }
  const value = reestablishMs(variant, given);
  return [{ measure: 'time', value, kind: 'mean', source: 'TL + 2Δ − E[td] + E[ts]' }];
}

function ofJoin(variant: Variant, given: Conditions): Expectation[] {
  const deltaMs = meanDelayMs(given.delay);
  if (given.loss > 0) return [];
  if (variant.prefers === 'highest' && given.joiner === 'highest') {
    const value = meanWaitMs(variant, given.nodes, given.suppressMs) + deltaMs;
    return [{ measure: 'time', value, kind: variant.waits ? 'mean' : 'exact', source: 'E[ts] + Δ' }];
  }
  const source = 'the leader’s next announcement: TA/2';
  if (!variant.query) return [{ measure: 'time', value: given.announceMs / 2, kind: 'mean', source }];
  const askedMs = Math.min(2 * deltaMs, given.announceMs);
  const value = askedMs - askedMs ** 2 / (2 * given.announceMs);
  const answered = 'the answer after 2Δ, or an announcement before it';
  return [
    { measure: 'time', value: 2 * deltaMs, kind: 'at most', source: '2Δ' },
    { measure: 'time', value, kind: 'mean', source: answered },
  ];
}
