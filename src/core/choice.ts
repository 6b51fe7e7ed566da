/**
 * The elector's choice: which node should lead, and why. One pure function serves automatic elections,
 * retries, requested switchovers and simulations.
 *
 * In this file, the present leader is the node that `elected` names, as long as that node is eligible. The
 * owner of `current` may be a different node: during a handover it is the outgoing node.
 */

import { durationMs, formatDuration } from '../model/duration.js';
import { failbackDelayMs, type GroupConfig, sitePriority } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import { type Claim, claimOwner, type Member } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';
import type { Cause, Elected, FailureRecord } from '../model/znodes.js';
import { endBackoff, failbackBackoffMs, failureOf, isInBackoff, retryAtMs } from './backoff.js';
import {
  departure,
  type Findings,
  findingsOf,
  type Ineligible,
  type IneligibleReason,
  ineligibleReasonsOf,
  ineligibleText,
  kindOfBackoff,
  kindOfMalformed,
  reasonsOf,
  stillOverridden,
} from './constraint.js';
import type { Elsewhere } from './elsewhere.js';
import { isGivenUp } from './elsewhere.js';
import { awaited } from './first-election.js';
import { requestedBefore } from './planned-change.js';
import { type RankInput, rank } from './ranking.js';
import { activeRequest, missedAtMs, requestTarget } from './requests.js';
import { mayFollow, replacement } from './site-rules.js';
import { stabilizationWindowMs } from './stabilization.js';

export type { Ineligible } from './constraint.js';
export { RuleFault } from './ranking.js';

export interface ChoiceInput extends RankInput {
  readonly members: readonly Member[];
  readonly elsewhere: Elsewhere;
  readonly current: Claim | null;
  /** The current failures, including the failure that this choice responds to. */
  readonly failures: readonly FailureRecord[];
  /** Whether the elected node has failed and no decision has responded to that failure yet. */
  readonly electedFailed: boolean;
  /**
   * Returns how long a node has continuously been eligible, as observed by the caller. Returns Infinity in a
   * simulation.
   */
  eligibleForMs(node: string): number;
  /**
   * Returns how long a node has continuously been better than the elected node, as observed by the caller.
   * Returns Infinity in a simulation. Called only if scores are compared.
   */
  betterForMs(node: string): number;
  /** How long the caller has waited for the group's first election. Infinity in a simulation. */
  readonly lookedForMs: number;
  /**
   * How long the elected node has been READY, as observed by the caller. Null while the node is not READY. In
   * a simulation, the time since the READY claim was last written.
   */
  readonly readyForMs: number | null;
}

export interface Choice {
  readonly node: string | null;
  /** False if the decision in `elected` remains unchanged and no write is needed. */
  readonly changes: boolean;
  readonly cause: Cause;
  /** The reason for the choice as text, for display. */
  readonly reason: string;
  /** The eligible nodes, best first. */
  readonly ranking: readonly Ranked[];
  readonly ineligible: readonly Ineligible[];
  /**
   * Time until the choice may change because a wait ends. Only the caller measures such waits, for example
   * how long a node has been eligible. `core/deadlines.ts` handles the instants that the input itself
   * contains.
   */
  readonly recheckInMs: number | null;
  /** The failures after this choice. A node that this choice tries again is no longer in backoff. */
  readonly failures: readonly FailureRecord[];
  /** The new value of `elected.requested`. Applies only if a new decision is written. */
  readonly requested: Elected['requested'];
  /** True if `requested` comes from an earlier request. The one in `config` is then not carried out. */
  readonly isReturn?: true;
  /** The new value of `elected.failedSite`. Applies only if a new decision is written. */
  readonly failedSite: string | null;
  /**
   * The better node that will replace the leader after a wait. No other slot may take this node in the
   * meantime. Missing if there is no such node.
   */
  readonly reserves?: string;
}

type Outcome = Pick<Choice, 'node' | 'changes' | 'cause' | 'reason'> & Partial<Choice>;

/** The input, with everything that is derived from it before the choice is made. */
interface Case extends ChoiceInput, Findings {
  /** The eligible nodes, best first. */
  readonly ranking: readonly Ranked[];
}

/** Returns the elector's choice. Throws RuleFault if the strategy cannot rank the eligible nodes. */
export function elect(input: ChoiceInput): Choice {
  const { config, elected, failures } = input;
  const findings = findingsOf(input.judged, elected, input.electedFailed);
  const ranking = rank(input, findings);
  const all: Case = { ...input, ...findings, ranking };
  const outcome =
    retired(all) ?? requested(all) ?? (config.paused === null ? automatic(all) : paused(all, config.paused));
  const { ineligible } = findings;
  return { ranking, ineligible, recheckInMs: null, failures, requested: null, failedSite: null, ...outcome };
}

/** Returns the choice to elect no node if the slot is being removed. Returns null if the slot is kept. */
function retired({ elected, elsewhere: { retired: why } }: ChoiceInput): Outcome | null {
  return why === null ? null : { node: null, changes: elected.node !== null, cause: 'planned', reason: why };
}

function requested(all: Case): Outcome | null {
  const { config, elected, failures, nowMs, ranking, ineligible, elsewhere } = all;
  const request = activeRequest(config, elected);
  if (request === null) return null;
  if (request.notBefore !== null && fromInstant(request.notBefore) > nowMs) return null;
  if (nowMs >= (missedAtMs(request) ?? Number.POSITIVE_INFINITY)) return null;
  const target = requestTarget(request, all, ranking);
  if (target === null || target === elected.node) return null;
  const { by, force } = request;
  return {
    node: target,
    changes: true,
    cause: 'planned',
    reason: `${force ? 'failover' : 'switchover'} requested by ${by}: ${request.reason}`,
    requested: {
      by,
      overridden: waivable(ineligibleReasonsOf(target, ineligible)),
      ...(force ? { forced: true } : {}),
    },
    failures: force ? withBackoffEnded(target, failures, elsewhere) : failures,
  };
}

/**
 * Removes the target's failure record. A record that another slot stores cannot be removed here. Instead,
 * this decision gets a copy of the record with the backoff ended.
 */
function withBackoffEnded(
  target: string,
  failures: readonly FailureRecord[],
  elsewhere: Elsewhere,
): FailureRecord[] {
  return failures
    .filter((record) => record.node !== target || elsewhere.failures.includes(record))
    .map((record) => (record.node === target ? endBackoff(record) : record));
}

function waivable(found: readonly IneligibleReason[]): string[] {
  return found.filter(({ canBeForced }) => canBeForced).map(({ kind }) => kind);
}

/** Describes a pause, for display. */
export function pausedText({ by, reason }: NonNullable<GroupConfig['paused']>): string {
  return `paused by ${by}: ${reason}`;
}

/**
 * Returns the choice while the group is paused. Only the elected node may claim. After a failure, the elected
 * node is tried again once its backoff ends.
 */
function paused(
  { elected, judged, electedFailed, failures, nowMs }: ChoiceInput,
  pause: NonNullable<GroupConfig['paused']>,
): Outcome {
  const why = pausedText(pause);
  const waits = failures.some((record) => record.node === elected.node && isInBackoff(record, nowMs));
  if (!electedFailed || waits) return { ...unchanged(elected), reason: why };
  // The request remains in force during the retry. Keep the reasons that the request overrode, and the node
  // to which leadership returns once the group is resumed.
  const { node } = elected;
  const requested = stillOverridden(elected, judged);
  return { node, changes: true, cause: 'retry', reason: `retry while ${why}`, requested, isReturn: true };
}

function unchanged({ node, cause }: Elected): Pick<Choice, 'node' | 'changes' | 'cause'> {
  return { node, changes: false, cause };
}

function automatic(all: Case): Outcome {
  const { elected, ranking } = all;
  const present = ranking.find(({ node }) => node === elected.node);
  const [best, ...others] = ranking;
  if (best === undefined) return nobodyEligible(all);
  const first = awaited(all, ranking, all.lookedForMs);
  if (first !== null) return { ...nobody(elected, first.reason), recheckInMs: first.leftMs };
  if (present === undefined || all.electedFailed) return replace(all, [best, ...others]);
  const better = preferred(all, present);
  if (better === null) return { ...unchanged(elected), reason: present.reason };
  return prefer(all, better, present);
}

type BestFirst = readonly [Ranked, ...Ranked[]];

/**
 * Returns the nodes that are better than the leader, in the order in which they would replace it. Returns
 * null if there are none. The first is the best node that has not failed, or the best node overall if all
 * have failed.
 */
function preferred({ failures, ranking }: Case, present: Ranked): BestFirst | null {
  const better = ranking.filter(({ grade }) => grade < present.grade);
  const best = better.find(({ node }) => failureOf(failures, node) === null) ?? better[0];
  return best === undefined ? null : [best, ...better.filter((one) => one !== best)];
}

function prefer(input: ChoiceInput, better: BestFirst, present: Ranked): Outcome {
  const [best] = better;
  const { elected, config, readyForMs, strategy } = input;
  // Scores are independent of priorities: a lowered priority does not make another node better.
  const lowered = strategy.usesScores === true ? null : wasLowered(input);
  if (lowered !== null) {
    const [{ node, reason }] = withLastGood(input, better);
    const requested = requestedBefore(input, node);
    return {
      node,
      changes: true,
      cause: 'planned',
      reason: `${lowered}; ${reason}`,
      requested,
      isReturn: true,
    };
  }
  const keep = (until: string, recheckInMs: number | null = null): Outcome => {
    const reason = `${present.reason}; ${best.node} would be better (${best.reason}), ${until}`;
    return { ...unchanged(elected), reason, recheckInMs };
  };
  const wait = (until: string, recheckInMs: number | null = null): Outcome => {
    return { ...keep(until, recheckInMs), reserves: best.node };
  };
  if (elected.requested !== null) return keep(`but ${elected.requested.by} requested ${present.node}`);
  const delayMs = failbackDelayMs(config);
  if (delayMs === null) return keep('but failback is manual');
  if (readyForMs === null) return wait(`but waits until ${present.node} is READY or has failed`);
  const holdMs = Math.max(delayMs, failbackBackoffMs(failureOf(input.failures, best.node), config));
  const minLeadershipLeftMs = durationMs(config.minLeadership) - readyForMs;
  const eligibleMs = Math.min(input.eligibleForMs(best.node), sinceFailureMs(input, best.node));
  const betterMs = strategy.usesScores === true ? input.betterForMs(best.node) : Number.POSITIVE_INFINITY;
  const waitMs = Math.max(
    holdMs - eligibleMs,
    minLeadershipLeftMs,
    stabilizationWindowMs(config, delayMs) - betterMs,
  );
  const stays = strategy.usesScores === true ? 'better' : 'eligible';
  if (waitMs > 0) return wait(`and takes over in ${formatDuration(waitMs)} if it stays ${stays}`, waitMs);
  return {
    node: best.node,
    changes: true,
    cause: 'preference',
    reason: `better than ${present.node}: ${best.reason}`,
  };
}

/**
 * Returns the time since the node's last failure. The caller has not necessarily observed the node throughout
 * its backoff.
 */
function sinceFailureMs({ failures, nowMs }: ChoiceInput, node: string): number {
  const record = failureOf(failures, node);
  return record === null ? Number.POSITIVE_INFINITY : nowMs - fromInstant(record.failedAt);
}

/**
 * Returns why an operator wants the present leader to be replaced. The reason is that the leader's own
 * priority or the priority of its site was lowered after its election. Returns null if neither was lowered.
 */
function wasLowered({ elected, config, members, nowMs }: ChoiceInput): string | null {
  const leader = members.find(({ node }) => node === elected.node)?.value;
  if (leader == null || elected.priorities === null) return null;
  const [siteThen, nodeThen] = elected.priorities;
  const siteNow = sitePriority(config, leader.site, nowMs);
  if (siteNow < siteThen) return `the priority of site ${leader.site} fell from ${siteThen} to ${siteNow}`;
  if (leader.priority < nodeThen) {
    return `the priority of node ${leader.node} fell from ${nodeThen} to ${leader.priority}`;
  }
  return null;
}

function replace(all: Case, ranking: BestFirst): Outcome {
  const { elected, members, failures, config, failedSite, againstElected } = all;
  const { best, why } = replacement(withLastGood(all, ranking), failedSite, members, config);
  if (best === null) return { ...nobody(elected, why), failedSite };
  const rule = why === null ? '' : `${why}; `;
  const requested = requestedBefore(all, best.node);
  const chosen = { node: best.node, changes: true, failedSite, requested, isReturn: true } as const;
  if (elected.node === null) {
    const again = isGivenUp(elected) ? `${all.elsewhere.name} was added again: ` : '';
    return {
      ...chosen,
      cause: causeOfFilling(elected, failures, best.node),
      reason: `${again}${rule}${best.reason}`,
    };
  }
  if (best.node === elected.node) {
    return { ...chosen, cause: 'retry', reason: `retry after its failure: ${rule}${best.reason}` };
  }
  const gone = !members.some(({ node }) => node === elected.node);
  const away = gone ? 'no longer registered' : reasonsOf(againstElected) || 'failed';
  const cause = departure(againstElected);
  return { ...chosen, cause, reason: `instead of ${elected.node} (${away}): ${rule}${best.reason}` };
}

/**
 * Moves the previous leader to the front if a planned change failed before any node was READY. The previous
 * leader worked until just before that change. If no operator requested the change, the previous leader is
 * moved only if it has the same grade as the best node.
 */
function withLastGood({ elected, previous }: ChoiceInput, ranking: BestFirst): BestFirst {
  const { handover } = elected;
  const last = ranking.find(({ node }) => node === previous?.node && node !== elected.node);
  const [best] = ranking;
  if (handover === undefined || last === undefined || last === best) return ranking;
  if (!handover.requested && last.grade !== best.grade) return ranking;
  const to = elected.node === null ? '' : ` to ${elected.node}`;
  const reason = `it led before the failed handover${to}; ${last.reason}`;
  return [{ ...last, reason }, ...ranking.filter((one) => one !== last)];
}

/**
 * Returns the cause of a decision that follows a decision to elect no node. The site of a failed leader is
 * recorded until a successor is elected. If no site is recorded, the leader was drained or left in an orderly
 * way.
 */
function causeOfFilling(elected: Elected, failures: readonly FailureRecord[], node: string): Cause {
  if (isGivenUp(elected)) return 'planned';
  if (failureOf(failures, node) !== null) return 'retry';
  if (elected.previous === null) return 'first';
  return elected.failedSite === null ? 'planned' : 'failure';
}

function nobodyEligible(all: Case): Outcome {
  const { elected, ineligible, againstElected, failedSite, config } = all;
  // A malformed registration does not end a leadership if no other node could take over.
  if (leads(all) && againstElected.every(({ kind }) => kind === kindOfMalformed)) {
    const why = `it leads, and no other node is eligible: ${reasonsOf(againstElected)}`;
    return { ...unchanged(elected), reason: why };
  }
  const able = ineligible.filter(({ site }) => mayFollow(site, failedSite, config));
  const retry = leastRecentlyFailed(all, able);
  if (retry !== null) return { ...retry, failedSite };
  return { ...nobody(elected, nobodyText(ineligible)), failedSite };
}

function nobodyText(ineligible: readonly Ineligible[]): string {
  return ineligible.length === 0
    ? 'no node is registered'
    : `no node is eligible: ${ineligibleText(ineligible)}`;
}

function nobody(elected: Elected, reason: string): Outcome {
  return { node: null, changes: elected.node !== null, cause: 'nobody', reason };
}

/** Whether the elected node owns a READY claim. */
function leads({ current, members, elected }: ChoiceInput): boolean {
  return current?.value?.status === 'READY' && claimOwner(current, members)?.node === elected.node;
}

/**
 * Among the nodes that are ineligible only because of a backoff, retries the one that failed longest ago. The
 * retry happens no sooner than the base backoff after that failure.
 */
function leastRecentlyFailed(input: ChoiceInput, ineligible: readonly Ineligible[]): Outcome | null {
  const { failures, config, nowMs, elected } = input;
  const onlyInBackoff = ineligible
    .filter(({ ineligibleReasons: found }) => found.every(({ kind }) => kind === kindOfBackoff))
    .map(({ node }) => node);
  const [record] = failures
    .filter(({ node }) => onlyInBackoff.includes(node))
    .toSorted((a, b) => fromInstant(a.failedAt) - fromInstant(b.failedAt));
  if (record === undefined) return null;
  const waitMs = retryAtMs(record, config) - nowMs;
  if (waitMs > 0) {
    const when = `will be retried in ${formatDuration(waitMs)}`;
    return nobody(
      elected,
      `every eligible node has failed; ${record.node}, which failed longest ago, ${when}`,
    );
  }
  return {
    node: record.node,
    changes: true,
    cause: 'retry',
    reason: `every eligible node has failed, and this one failed longest ago (${record.reason})`,
    failures: failures.map((other) => (other === record ? endBackoff(record) : other)),
  };
}
