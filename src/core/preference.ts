/** Moves to a better node: when a node takes leadership from a leader that could continue. */

import { durationMs, formatDuration } from '../model/duration.js';
import { failbackDelayMs, sitePriority } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import type { Ranked } from '../model/strategy.js';
import { failbackBackoffMs, failureOf } from './backoff.js';
import type { BestFirst, ChoiceInput, RankedInput, RuleOutcome } from './choice-input.js';
import { requestedBefore, withLastGood } from './planned-change.js';
import { stabilizationWindowMs } from './stabilization.js';

/**
 * Returns the move to a better node, or why the leader stays. `present` is the leader's place in the ranking.
 */
export function preference(all: RankedInput, present: Ranked): RuleOutcome {
  const better = betterThan(all, present);
  if (better === null) return { reason: present.reason };
  // Scores are independent of priorities: a lowered priority does not make another node better.
  const lowered = all.strategy.usesScores === true ? null : wasLowered(all);
  return lowered === null ? failback(all, better[0], present) : moveAway(all, better, lowered);
}

/**
 * Returns the nodes that are better than the leader, in the order in which they would replace it. Returns
 * null if there are none. The first is the best node that has not failed, or the best node overall if all
 * have failed.
 */
function betterThan({ failures, ranking }: RankedInput, present: Ranked): BestFirst | null {
  const better = ranking.filter(({ grade }) => grade < present.grade);
  const best = better.find(({ node }) => failureOf(failures, node) === null) ?? better[0];
  return best === undefined ? null : [best, ...better.filter((one) => one !== best)];
}

/** Returns the move to a better node, or the wait that delays it. */
function failback(input: RankedInput, best: Ranked, present: Ranked): RuleOutcome {
  const { elected, config, readyForMs, strategy } = input;
  const keep = (until: string, recheckInMs: number | null = null): RuleOutcome => {
    const reason = `${present.reason}; ${best.node} would be better (${best.reason}), ${until}`;
    return { reason, recheckInMs };
  };
  const wait = (until: string, recheckInMs: number | null = null): RuleOutcome => {
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
function sinceFailureMs({ failures, epochMs }: ChoiceInput, node: string): number {
  const record = failureOf(failures, node);
  return record === null ? Number.POSITIVE_INFINITY : epochMs - fromInstant(record.failedAt);
}

/**
 * Returns why an operator wants the present leader to be replaced. The reason is that the leader's own
 * priority or the priority of its site was lowered after its election. Returns null if neither was lowered.
 */
function wasLowered({ elected, config, members, epochMs }: ChoiceInput): string | null {
  const leader = members.find(({ node }) => node === elected.node)?.value;
  if (leader == null || elected.priorities === null) return null;
  const [siteThen, nodeThen] = elected.priorities;
  const siteNow = sitePriority(config, leader.site, epochMs);
  if (siteNow < siteThen) return `the priority of site ${leader.site} fell from ${siteThen} to ${siteNow}`;
  if (leader.priority < nodeThen) {
    return `the priority of node ${leader.node} fell from ${nodeThen} to ${leader.priority}`;
  }
  return null;
}

/** Returns the move away from a leader whose priority an operator has lowered. It does not wait. */
function moveAway(all: RankedInput, better: BestFirst, lowered: string): RuleOutcome {
  const [{ node, reason: why }] = withLastGood(all, better);
  const requested = requestedBefore(all, node);
  const reason = `${lowered}; ${why}`;
  return { node, changes: true, cause: 'planned', reason, requested, isReturn: true };
}
