/**
 * The elector's choice: which node should lead, and why. One pure function for automatic elections, retries,
 * requested switchovers and what-if questions.
 *
 * The present leader, here, is the node that `elected` names, while it is fit: not the owner of `current`, which
 * during a handover is the node on its way out.
 */

import { durationMs, formatDuration } from '../model/duration.js';
import { failbackDelayMs, type GroupConfig, sitePriority } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import { type Claim, claimOwner } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';
import type { Cause, Elected, FailureRecord } from '../model/znodes.js';
import { cautionMs, failureOf, isInBackoff, letTry, retryAtMs } from './backoff.js';
import { conditionsOf, siteOfFailure } from './conditions.js';
import {
  departure,
  fitOf,
  type Judged,
  kindOfBackoff,
  kindOfBusy,
  kindOfUnreadable,
  type Obstacle,
  obstaclesOf,
  stillWaived,
  type Unfit,
  unfitOf,
  withWaived,
} from './constraint.js';
import type { Elsewhere } from './elsewhere.js';
import { isGivenUp } from './elsewhere.js';
import { awaited } from './first-election.js';
import { type RankInput, rank } from './ranking.js';
import { activeRequest, missedAtMs, requestTarget } from './requests.js';
import { mayFollow, replacement } from './site-rules.js';
import { bySoftConstraints } from './soft-constraints.js';
import { stabilizationWindowMs } from './stabilization.js';

export type { Unfit } from './constraint.js';
export { RuleFault } from './ranking.js';

export interface Question extends Omit<RankInput, 'incumbent' | 'term' | 'conditions'> {
  /** Everyone who is registered, in order of node ids, and what was found about them. */
  readonly judged: readonly Judged[];
  readonly elsewhere: Elsewhere;
  readonly elected: Elected;
  readonly current: Claim | null;
  /** Failures as they stand, with the one that is being acted on. */
  readonly failures: readonly FailureRecord[];
  /** The elected node failed under the present version of `elected`. */
  readonly electedFailed: boolean;
  /** How long a node has been fit without a break, as far as the asker saw; Infinity in a what-if. */
  fitForMs(node: string): number;
  /** How long a node has been better than the elected one without a break, as `fitForMs`; asked where scores are compared. */
  betterForMs(node: string): number;
  /** How long the asker has looked for a first election; Infinity in a what-if. */
  readonly lookedForMs: number;
  /** How long the elected node has been READY, as far as the asker saw; null while it is not; Infinity in a what-if. */
  readonly readyForMs: number | null;
}

export interface Choice {
  readonly node: string | null;
  /** False: what `elected` says stands, nothing is to be written. */
  readonly changes: boolean;
  readonly cause: Cause;
  /** For people. */
  readonly reason: string;
  /** The fit nodes, best first. */
  readonly ranking: readonly Ranked[];
  readonly unfit: readonly Unfit[];
  /** A wait that only the asker knows of (how long a node has been fit, say) may change the choice after so long;
   * `core/limits.ts` knows of the instants that the input itself names. */
  readonly recheckInMs: number | null;
  /** What the choice makes of the failures: a node tried again is no longer excluded. */
  readonly failures: readonly FailureRecord[];
  /** What `elected.asked` is to say of a node newly chosen. */
  readonly asked: Elected['asked'];
  /** What `elected.failedSite` is to say with it. */
  readonly failedSite: string | null;
  /** A better node that the leader is left for after a wait: no other slot is to take it meanwhile. */
  readonly courts?: string;
}

type Outcome = Pick<Choice, 'node' | 'changes' | 'cause' | 'reason'> & Partial<Choice>;

/** Decides. Throws RuleFault when the strategy cannot rank the fit nodes. */
export function elect(question: Question): Choice {
  const { config, elected, failures } = question;
  const members = question.judged.map(({ member }) => member);
  const judged = question.electedFailed ? question.judged : withWaived(question.judged, elected);
  const fit = fitOf(judged);
  const isFit = fit.some(({ node }) => node === elected.node);
  const incumbent = isFit && !question.electedFailed ? elected.node : null;
  const unfit = unfitOf(judged);
  const conditions = conditionsOf(question, unfit, incumbent);
  const input = { ...question, members, incumbent, term: elected.term + 1, conditions };
  const ranking = bySoftConstraints(rank(input, fit), judged);
  const outcome =
    retired(question) ??
    requested(question, ranking, unfit) ??
    (config.paused === null ? automatic(question, ranking, unfit) : paused(question, config.paused));
  return { ranking, unfit, recheckInMs: null, failures, asked: null, failedSite: null, ...outcome };
}

/** A slot that the group is not to have any more is given up, whoever leads it. */
function retired({ elected, elsewhere: { retired: why } }: Question): Outcome | null {
  return why === null ? null : { node: null, changes: elected.node !== null, cause: 'planned', reason: why };
}

function reasonsOf(found: readonly Obstacle[]): string {
  return found.map(({ reason }) => reason).join(', ');
}

function requested(question: Question, ranking: readonly Ranked[], unfit: readonly Unfit[]): Outcome | null {
  const { config, elected, failures, nowMs } = question;
  const request = activeRequest(config, elected);
  if (request === null) return null;
  if (request.notBefore !== null && fromInstant(request.notBefore) > nowMs) return null;
  if (nowMs >= (missedAtMs(request) ?? Number.POSITIVE_INFINITY)) return null;
  const target = requestTarget(request, question, ranking);
  if (target === null || target === elected.node) return null;
  const { by, force } = request;
  return {
    node: target,
    changes: true,
    cause: 'planned',
    reason: `${force ? 'failover' : 'switchover'} asked for by ${by}: ${request.reason}`,
    asked: { by, waived: waivable(obstaclesOf(target, unfit)), ...(force ? { forced: true } : {}) },
    failures: force ? forgiven(target, failures, question.elsewhere) : failures,
  };
}

/** What another slot remembers of a node cannot be taken out there: it is noted here that it may try. */
function forgiven(target: string, failures: readonly FailureRecord[], elsewhere: Elsewhere): FailureRecord[] {
  return failures
    .filter((record) => record.node !== target || elsewhere.failures.includes(record))
    .map((record) => (record.node === target ? letTry(record) : record));
}

function waivable(found: readonly Obstacle[]): string[] {
  return found.filter(({ canBeForced }) => canBeForced).map(({ kind }) => kind);
}

/** Paused: nobody but the elected node may claim; after a failure it tries again, backed off. */
function paused(
  { elected, judged, electedFailed, failures, nowMs }: Question,
  { by, reason: because }: NonNullable<GroupConfig['paused']>,
): Outcome {
  const why = `paused by ${by}: ${because}`;
  const waits = failures.some((record) => record.node === elected.node && isInBackoff(record, nowMs));
  if (!electedFailed || waits) return { ...standing(elected), reason: why };
  // Still what a person asked for: it keeps what was waived, and whom it returns to once the group is not paused.
  const { node } = elected;
  const asked = stillWaived(elected, judged);
  return { node, changes: true, cause: 'retry', reason: `tried again while ${why}`, asked };
}

function standing({ node, cause }: Elected): Pick<Choice, 'node' | 'changes' | 'cause'> {
  return { node, changes: false, cause };
}

function automatic(question: Question, ranking: readonly Ranked[], unfit: readonly Unfit[]): Outcome {
  const { elected } = question;
  const present = ranking.find(({ node }) => node === elected.node);
  const [best, ...others] = ranking;
  if (best === undefined) return nobodyFit(question, unfit);
  const first = awaited(question, ranking, question.lookedForMs);
  if (first !== null) return { ...nobody(elected, first.reason), recheckInMs: first.leftMs };
  if (present === undefined || question.electedFailed) return replace(question, [best, ...others], unfit);
  const better = preferred(question, ranking, present);
  if (better === null) return { ...standing(elected), reason: present.reason };
  return prefer(question, better, present);
}

type BestFirst = readonly [Ranked, ...Ranked[]];

/** Whom a leader would be left for: the best of those that are better and have not failed, else the best; then the others. */
function preferred({ failures }: Question, ranking: readonly Ranked[], present: Ranked): BestFirst | null {
  const better = ranking.filter(({ grade }) => grade < present.grade);
  const best = better.find(({ node }) => failureOf(failures, node) === null) ?? better[0];
  return best === undefined ? null : [best, ...better.filter((one) => one !== best)];
}

function prefer(question: Question, better: BestFirst, present: Ranked): Outcome {
  const [best] = better;
  const { elected, config, readyForMs, strategy } = question;
  // Scores have nothing to do with priorities: that one fell does not make another node better.
  const lowered = strategy.usesScores === true ? null : wasLowered(question);
  if (lowered !== null) {
    const [{ node, reason }] = withLastGood(question, better);
    return { node, changes: true, cause: 'planned', reason: `${lowered}; ${reason}` };
  }
  const keep = (until: string, recheckInMs: number | null = null): Outcome => {
    const reason = `${present.reason}; ${best.node} would be better (${best.reason}), ${until}`;
    return { ...standing(elected), reason, recheckInMs };
  };
  const wait = (until: string, recheckInMs: number | null = null): Outcome => {
    return { ...keep(until, recheckInMs), courts: best.node };
  };
  if (elected.asked !== null) return keep(`but ${elected.asked.by} asked for ${present.node}`);
  const delayMs = failbackDelayMs(config);
  if (delayMs === null) return keep('and failback is manual');
  if (readyForMs === null) return wait(`and waits until ${present.node} is READY or has failed`);
  const holdMs = Math.max(delayMs, cautionMs(failureOf(question.failures, best.node), config));
  const minLeadershipLeftMs = durationMs(config.minLeadership) - readyForMs;
  const fitMs = Math.min(question.fitForMs(best.node), sinceFailureMs(question, best.node));
  const betterMs = strategy.usesScores === true ? question.betterForMs(best.node) : Number.POSITIVE_INFINITY;
  const waitMs = Math.max(
    holdMs - fitMs,
    minLeadershipLeftMs,
    stabilizationWindowMs(config, delayMs) - betterMs,
  );
  const stays = strategy.usesScores === true ? 'better' : 'fit';
  if (waitMs > 0) return wait(`and takes over in ${formatDuration(waitMs)} if it stays ${stays}`, waitMs);
  return {
    node: best.node,
    changes: true,
    cause: 'preference',
    reason: `better than ${present.node}: ${best.reason}`,
  };
}

/** Who asks may not have looked while the node was in backoff. */
function sinceFailureMs({ failures, nowMs }: Question, node: string): number {
  const record = failureOf(failures, node);
  return record === null ? Number.POSITIVE_INFINITY : nowMs - fromInstant(record.failedAt);
}

/** Why a person wants the present leader to leave: a priority fell since it was elected. */
function wasLowered({ elected, config, members, nowMs }: Question): string | null {
  const leader = members.find(({ node }) => node === elected.node)?.value;
  if (leader === null || leader === undefined || elected.priorities === null) return null;
  const [siteThen, nodeThen] = elected.priorities;
  const siteNow = sitePriority(config, leader.site, nowMs);
  if (siteNow < siteThen) return `the priority of site ${leader.site} fell from ${siteThen} to ${siteNow}`;
  if (leader.priority < nodeThen) {
    return `the priority of node ${leader.node} fell from ${nodeThen} to ${leader.priority}`;
  }
  return null;
}

function replace(question: Question, ranking: BestFirst, unfit: readonly Unfit[]): Outcome {
  const { elected, members, failures, config } = question;
  const failedSite = siteOfFailure(question, unfit);
  const { best, why } = replacement(withLastGood(question, ranking), failedSite, members, config);
  if (best === null) return { ...nobody(elected, why ?? 'nobody may replace the leader'), failedSite };
  const rule = why === null ? '' : `${why}; `;
  const chosen = { node: best.node, changes: true, failedSite };
  if (elected.node === null) {
    const again = isGivenUp(elected) ? `the group is to have ${question.elsewhere.name} again: ` : '';
    return {
      ...chosen,
      cause: causeOfFilling(elected, failures, best.node),
      reason: `${again}${rule}${best.reason}`,
    };
  }
  const found = obstaclesOf(elected.node, unfit);
  const gone = !members.some(({ node }) => node === elected.node);
  const away = gone ? 'it is gone' : reasonsOf(found) || 'it failed';
  const cause = question.electedFailed && best.node === elected.node ? 'retry' : departure(found);
  return { ...chosen, cause, reason: `instead of ${elected.node} (${away}): ${rule}${best.reason}` };
}

/**
 * Puts the previous leader first if a planned change failed before anybody was READY: it was good a moment
 * ago. If nobody requested the change, it only comes before its equals. A forced failover distrusts it.
 */
function withLastGood({ elected, previous }: Question, ranking: BestFirst): BestFirst {
  const isForced = elected.asked?.forced === true;
  const isAsked = elected.asked !== null && !isForced;
  const isPlanned = isAsked || elected.cause === 'planned' || elected.cause === 'preference';
  const last = ranking.find(({ node }) => node === previous?.node && node !== elected.node);
  const [best] = ranking;
  if (!isPlanned || isForced || last === undefined || last === best) return ranking;
  if (!isAsked && last.grade !== best.grade) return ranking;
  const reason = `it led until ${elected.node} was to take over; ${last.reason}`;
  return [{ ...last, reason }, ...ranking.filter((one) => one !== last)];
}

function causeOfFilling(elected: Elected, failures: readonly FailureRecord[], node: string): Cause {
  if (isGivenUp(elected)) return 'planned';
  if (failureOf(failures, node) !== null) return 'retry';
  return elected.previous === null ? 'first' : 'failure';
}

function nobodyFit(question: Question, unfit: readonly Unfit[]): Outcome {
  const { elected } = question;
  const found = obstaclesOf(elected.node, unfit);
  // Junk in its registration does not end a leadership that nobody could take up.
  if (leads(question) && found.every(({ kind }) => kind === kindOfUnreadable)) {
    return { ...standing(elected), reason: `it leads, and nobody else could: ${reasonsOf(found)}` };
  }
  const failedSite = siteOfFailure(question, unfit);
  const able = unfit.filter(({ site }) => mayFollow(site, failedSite, question.config));
  const retry = leastRecentlyFailed(question, able);
  if (retry !== null) return { ...retry, failedSite };
  return { ...nobody(elected, nobodyText(unfit)), failedSite };
}

function nobodyText(unfit: readonly Unfit[]): string {
  if (unfit.length === 0) return 'no node is registered';
  const busy = unfit.filter(({ obstacles: found }) => found.some(({ kind }) => kind === kindOfBusy));
  const others = unfit.filter((one) => !busy.includes(one));
  const reasons = others.map((one) => `${one.node}: ${reasonsOf(one.obstacles)}`);
  const inOthers = busy.length === 0 ? [] : [`in other slots: ${busy.map(({ node }) => node).join(', ')}`];
  return `nobody is fit to lead: ${[...reasons, ...inOthers].join('; ')}`;
}

function nobody(elected: Elected, reason: string): Outcome {
  return { node: null, changes: elected.node !== null, cause: 'nobody', reason };
}

/** The elected node owns a READY claim. */
function leads({ current, members, elected }: Question): boolean {
  return current?.value?.status === 'READY' && claimOwner(current, members)?.node === elected.node;
}

/** When only failures keep everyone out: the one that failed longest ago, no sooner than the base time after. */
function leastRecentlyFailed(question: Question, unfit: readonly Unfit[]): Outcome | null {
  const { failures, config, nowMs, elected } = question;
  const onlyInBackoff = unfit
    .filter(({ obstacles: found }) => found.every(({ kind }) => kind === kindOfBackoff))
    .map(({ node }) => node);
  const [record] = failures
    .filter(({ node }) => onlyInBackoff.includes(node))
    .toSorted((a, b) => fromInstant(a.failedAt) - fromInstant(b.failedAt));
  if (record === undefined) return null;
  const waitMs = retryAtMs(record, config) - nowMs;
  if (waitMs > 0) {
    const when = `is tried again in ${formatDuration(waitMs)}`;
    return nobody(elected, `every fit node has failed; ${record.node}, which failed longest ago, ${when}`);
  }
  return {
    node: record.node,
    changes: true,
    cause: 'retry',
    reason: `every fit node has failed, and it failed longest ago (${record.reason})`,
    failures: failures.map((other) => (other === record ? letTry(record) : other)),
  };
}
