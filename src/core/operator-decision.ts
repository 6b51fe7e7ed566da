/** What an operator has decided: a requested switchover, or a pause. */

import type { GroupConfig } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import type { FailureRecord } from '../model/znodes.js';
import { endBackoff, isInBackoff } from './backoff.js';
import type { RankedInput, RuleOutcome } from './choice-input.js';
import { type IneligibleReason, ineligibleReasonsOf } from './constraint.js';
import type { Elsewhere } from './elsewhere.js';
import { missedAtMs, requestTarget } from './requests.js';

/**
 * Returns the requested switchover, if it is due and its target can lead, or what a paused group does.
 * Returns null if neither applies.
 */
export function operatorDecision(all: RankedInput): RuleOutcome | null {
  const { config } = all;
  return requestedSwitchover(all) ?? (config.paused === null ? null : paused(all, config.paused));
}

function requestedSwitchover(all: RankedInput): RuleOutcome | null {
  const { request, elected, failures, epochMs, ranking, ineligible, elsewhere } = all;
  if (request === null) return null;
  if (request.notBefore !== null && fromInstant(request.notBefore) > epochMs) return null;
  if (epochMs >= (missedAtMs(request) ?? Number.POSITIVE_INFINITY)) return null;
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
  { elected, stillOverridden, electedFailed, failures, epochMs }: RankedInput,
  pause: NonNullable<GroupConfig['paused']>,
): RuleOutcome {
  const why = pausedText(pause);
  const waits = failures.some((record) => record.node === elected.node && isInBackoff(record, epochMs));
  if (!electedFailed || waits) return { reason: why };
  // The request remains in force during the retry. Keep the reasons that the request overrode, and the node
  // to which leadership returns once the group is resumed.
  const { node } = elected;
  const requested = stillOverridden;
  return { node, changes: true, cause: 'retry', reason: `retry while ${why}`, requested, isReturn: true };
}
