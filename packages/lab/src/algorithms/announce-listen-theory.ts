/**
 * The theory of announce–listen, based on E. Schooler's chapter on leader election. If a formula printed
 * there differs from the one derived here, this module contains both. N is the number of nodes, R = N−1 the
 * number of receivers, and l the loss. TA, TL, TS and Δ are explained in `Conditions`.
 */

import { type Conditions, listenMs, meanDelayMs } from '../conditions.js';
import type { Expectation } from '../protocol.js';
import { uncorrelatedDepartureMs } from './departure-theory.js';
import { isPatient, lossDelayMs, lostInRow } from './loss-theory.js';
import {
  integral,
  meanWait,
  messagesUntilFirst,
  shortestWait,
  suppressionMessages,
} from './suppression-theory.js';

export interface Variant {
  readonly name: string;
  readonly title: string;
  /** Whether a node waits for up to TS before it announces itself. */
  readonly waits: boolean;
  readonly prefers: 'highest' | 'earliest';
  readonly bye: boolean;
  /** Point at which a new node asks which node is the leader. */
  readonly query: 'never' | 'at once' | 'after waiting';
}

/** Returns the mean wait of the node that becomes the leader, among `n` nodes that wait for up to TS. */
export function meanWaitMs(
  variant: Pick<Variant, 'waits' | 'prefers'>,
  n: number,
  { suppressMs, suppressRate }: Pick<Conditions, 'suppressMs' | 'suppressRate'>,
): number {
  if (!variant.waits) return 0;
  return (
    suppressMs * (variant.prefers === 'earliest' ? shortestWait(n, suppressRate) : meanWait(suppressRate))
  );
}

/**
 * Returns the mean time from the leader's crash to agreement on the next leader: TL + 2Δ − E[td] + E[ts]. The
 * mean of td, the time since the leader's last announcement, is TA/2. Correlated loss does not change this
 * time. The nodes give up the old leader earlier, because they missed its last announcements, but they hear
 * the next leader later by the same amount.
 */
export function reestablishMs(variant: Pick<Variant, 'waits' | 'prefers'>, given: Conditions): number {
  const { nodes, announceMs, delay } = given;
  return listenMs(given) + 2 * meanDelayMs(delay) - announceMs / 2 + meanWaitMs(variant, nodes - 1, given);
}

/**
 * Returns the mean time from the first of b Byes to agreement on the next leader, under correlated loss.
 * Derived: if all Byes are lost, the time is the same as after a crash. Otherwise it is 2Δ + E[ts] +
 * TA·l/(1−l).
 */
export function byeMs(variant: Pick<Variant, 'waits' | 'prefers'>, given: Conditions): number {
  const { nodes, loss, delay, byes, announceMs } = given;
  const waitMs = meanWaitMs(variant, nodes - 1, given);
  const heardMs = 2 * meanDelayMs(delay) + waitMs + announceMs * lostInRow(loss);
  return (1 - loss ** byes) * heardMs + loss ** byes * reestablishMs(variant, given);
}

/**
 * Returns the mean time until a late joiner and all others agree. If the joiner has the highest number, this
 * is the leadership delay. Otherwise, the joiner must hear the leader's next announcement. The joiner loses
 * as many announcements under correlated loss as under uncorrelated loss. The formulas under loss are
 * derived.
 */
export function joinMs(variant: Pick<Variant, 'waits' | 'prefers'>, given: Conditions): number {
  const { nodes, joiner, announceMs, loss, delay } = given;
  if (variant.prefers === 'highest' && joiner === 'highest') {
    return meanWaitMs(variant, nodes, given) + lossDelayMs(given) + meanDelayMs(delay);
  }
  return announceMs / 2 + announceMs * lostInRow(loss);
}

/**
 * Returns the mean time until a late joiner hears the leader, either in the answer to its query or in an
 * earlier announcement. If `waits` is true, the joiner waits for up to TS before it sends the query, as in
 * Suppress-then-Query. The waits are distributed uniformly.
 */
export function queryMs(given: Conditions, waits: boolean): number {
  const { announceMs, suppressMs, delay } = given;
  const firstAnswerMs = Math.min(announceMs, 2 * meanDelayMs(delay));
  const lastAnswerMs = Math.min(announceMs, firstAnswerMs + (waits ? suppressMs : 0));
  const silent = (ms: number) => 1 - ms / announceMs;
  const unanswered = (ms: number) => 1 - (ms - firstAnswerMs) / suppressMs;
  // The share of unanswered queries has a jump or a kink at both ends of the second interval. The two
  // intervals are therefore integrated separately.
  return (
    integral(silent, 0, firstAnswerMs) +
    integral((ms) => silent(ms) * unanswered(ms), firstAnswerMs, lastAnswerMs)
  );
}

/** Whether false alarms are impossible. With loss, they are always possible, however long TL is. */
export function hasNoFalseAlarms(given: Conditions): boolean {
  const { loss, announceMs, suppressMs, delay } = given;
  return loss === 0 && listenMs(given) >= announceMs && announceMs >= suppressMs + meanDelayMs(delay);
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
  const { nodes, suppressMs, suppressRate, announceMs, loss, correlated } = given;
  const deltaMs = meanDelayMs(given.delay);
  if (variant.query === 'after waiting') return loss > 0 ? [] : [ofQueries(given, nodes)];
  // Answers to queries are additional announcements. An answer may reach a node that the first announcement
  // did not reach.
  if (variant.query === 'at once' && loss > 0) return [];
  const isByNumber = variant.prefers === 'highest';
  const waitMs = meanWaitMs(variant, nodes, given);
  const time: Expectation = {
    measure: 'time',
    value: waitMs + lossDelayMs(given) + deltaMs,
    kind: variant.waits || loss > 0 ? 'mean' : 'exact',
    source: loss === 0 ? 'E[ts] + Δ' : correlated ? 'E[ts] + TA·l/(1−l) + Δ' : 'E[ts] + TA·(A−1) + Δ',
  };
  const sent: Expectation = {
    measure: 'suppression messages',
    value: suppressionMessages(nodes, deltaMs, suppressMs, loss, suppressRate),
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
    ...(hasNoFalseAlarms(given) ? [alarms] : []),
  ];
}

function ofQueries({ delay, suppressMs, suppressRate }: Conditions, waiting: number): Expectation {
  const value = messagesUntilFirst(waiting, meanDelayMs(delay), suppressMs, suppressRate);
  return { measure: 'queries', value, kind: 'mean', source: 'the first query silences all others' };
}

function ofDeparture(variant: Variant, given: Conditions): Expectation[] {
  const { nodes, loss, correlated, scenario } = given;
  if (variant.query === 'after waiting') return loss > 0 ? [] : [ofQueries(given, nodes - 1)];
  if (loss > 0 && variant.prefers === 'earliest') return [];
  const isSaid = variant.bye && scenario === 'bye';
  if (loss > 0 && !correlated) return [ofUncorrelatedDeparture(variant, given, isSaid ? given.byes : 0)];
  const value = isSaid ? byeMs(variant, given) : reestablishMs(variant, given);
  const source =
    loss === 0 ? '2Δ + E[ts]' : '2Δ + E[ts] + TA·l/(1−l); for l^b of the departures, the same as without Bye';
  return [{ measure: 'time', value, kind: 'mean', source: isSaid ? source : 'TL + 2Δ − E[td] + E[ts]' }];
}

function ofUncorrelatedDeparture({ waits }: Variant, given: Conditions, byes: number): Expectation {
  const value = uncorrelatedDepartureMs(waits, given, byes);
  return {
    measure: 'time',
    value,
    kind: 'mean',
    source: 'all have given up and heard from the next leader',
  };
}

function ofJoin(variant: Variant, given: Conditions): Expectation[] {
  const { loss, correlated, joiner, announceMs, suppressMs, suppressRate } = given;
  const isFirst = variant.prefers === 'highest' && joiner === 'highest';
  if (variant.query !== 'never') {
    const waits = variant.query === 'after waiting';
    if (loss > 0 || isFirst || (waits && (suppressRate !== 0 || announceMs < suppressMs))) return [];
    return ofQuery(given, waits);
  }
  const lost = loss === 0 ? '' : correlated || !isFirst ? ' + TA·l/(1−l)' : ' + TA·(A−1)';
  const source = isFirst ? `E[ts]${lost} + Δ` : `the leader’s next announcement: TA/2${lost}`;
  const kind = isFirst && !variant.waits && loss === 0 ? 'exact' : 'mean';
  return [{ measure: 'time', value: joinMs(variant, given), kind, source }];
}

function ofQuery(given: Conditions, waits: boolean): Expectation[] {
  const mostMs = 2 * meanDelayMs(given.delay) + (waits ? given.suppressMs : 0);
  const answered = 'the answer, or an announcement before it';
  return [
    { measure: 'time', value: mostMs, kind: 'at most', source: waits ? 'TS + 2Δ' : '2Δ' },
    { measure: 'time', value: queryMs(given, waits), kind: 'mean', source: answered },
  ];
}
