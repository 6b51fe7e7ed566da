/**
 * What operators decide: requested switchovers and pauses. Determines which request is still active, which
 * node it selects, and what a paused group does.
 */

import type { GroupConfig, SwitchoverRequest } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import type { Member } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';
import type { Elected, FailureRecord } from '../model/znodes.js';
import { endBackoff, isInBackoff } from './backoff.js';
import type { Case, Outcome } from './case.js';
import { type IneligibleReason, ineligibleReasonsOf } from './constraint.js';
import type { Elsewhere } from './elsewhere.js';

/**
 * Returns the requested switchover if it is active. Otherwise returns null. A request is active while the
 * term that it replaces is current.
 */
export function activeRequest(config: GroupConfig, elected: Elected): SwitchoverRequest | null {
  return config.switchover?.replacesTerm === elected.term ? config.switchover : null;
}

/**
 * Maximum delay with which a scheduled request may be carried out. After that, a different leader may be the
 * right one.
 */
export const mostLateMs = 60_000;

/**
 * Returns when a scheduled request counts as missed, on the ensemble's clock. Returns null for a request
 * without a time, which never counts as missed.
 */
export function missedAtMs({ notBefore }: Pick<SwitchoverRequest, 'notBefore'>): number | null {
  return notBefore === null ? null : fromInstant(notBefore) + mostLateMs;
}

/**
 * Whether a decision that carries out no request leaves a missed request behind. That request was either
 * active until the decision, or it had already been missed.
 */
export function missesRequest(config: GroupConfig, elected: Elected): boolean {
  if (config.switchover === null) return false;
  return config.switchover.replacesTerm === elected.term || elected.missedRequest === true;
}

/** Formats a request for display, such as "switchover to b1 requested by …". */
export function requestText({ to, force, by, at, notBefore, slot }: SwitchoverRequest): string {
  const when = notBefore === null ? '' : ` not before ${notBefore}`;
  const which = slot === undefined ? '' : ` of slot ${slot}`;
  return `${force ? 'failover' : 'switchover'}${which} to ${targetText(to)}${when}, requested by ${by} at ${at},`;
}

export function targetText(to: SwitchoverRequest['to']): string {
  if (to === 'best-other') return 'the best other node';
  return 'node' in to ? to.node : `site ${to.site}`;
}

interface Candidates {
  readonly members: readonly Member[];
  readonly elected: Elected;
  readonly elsewhere: Pick<Elsewhere, 'busy'>;
}

/**
 * Returns the node that a request selects now. Returns null if no node qualifies, or if an eligible leader is
 * already in the requested site. `ranking` lists the eligible nodes, best first. A forced request that names
 * a node skips the eligibility check. Even with force, a node is not selected if it is not registered, is
 * leaving, or leads another slot.
 */
export function requestTarget(
  { to, force }: SwitchoverRequest,
  { members, elected, elsewhere }: Candidates,
  ranking: readonly Ranked[],
): string | null {
  const eligible = ranking.map(({ node }) => node);
  const others = eligible.filter((node) => node !== elected.node);
  if (to === 'best-other') return others[0] ?? null;
  if ('node' in to) {
    const free = members.filter(({ node }) => !elsewhere.busy.has(node));
    const able = force ? free.filter(isAble).map(({ node }) => node) : eligible;
    return able.includes(to.node) ? to.node : null;
  }
  const inSite = members.filter(({ value }) => value?.site === to.site).map(({ node }) => node);
  const isThere = eligible.some((node) => node === elected.node && inSite.includes(node));
  return isThere ? null : (others.find((node) => inSite.includes(node)) ?? null);
}

function isAble({ value }: Member): boolean {
  return value !== null && !value.draining;
}

/**
 * Returns what an operator decided: the requested switchover if it is due and its target can lead, or what a
 * paused group does. Returns null if neither applies.
 */
export function byOperator(all: Case): Outcome | null {
  const { config } = all;
  return requestedSwitchover(all) ?? (config.paused === null ? null : paused(all, config.paused));
}

function requestedSwitchover(all: Case): Outcome | null {
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
  { elected, stillRequested, electedFailed, failures, epochMs }: Case,
  pause: NonNullable<GroupConfig['paused']>,
): Outcome {
  const why = pausedText(pause);
  const waits = failures.some((record) => record.node === elected.node && isInBackoff(record, epochMs));
  if (!electedFailed || waits) return { reason: why };
  // The request remains in force during the retry. Keep the reasons that the request overrode, and the node
  // to which leadership returns once the group is resumed.
  const retry = { changes: true, cause: 'retry', requested: stillRequested, isReturn: true } as const;
  return { ...retry, reason: `retry while ${why}` };
}
