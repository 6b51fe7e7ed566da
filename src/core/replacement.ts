/**
 * The replacement of a leader that cannot continue, and the election of a leader where there is none. A rule
 * about sites may keep the successor of a failed leader out of the site in which the leader failed.
 */

import { formatDuration } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import { claimOwner, type Member, siteOf } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';
import type { Cause, Elected, FailureRecord } from '../model/znodes.js';
import { endBackoff, failureOf, retryAtMs } from './backoff.js';
import type { BestFirst, ChoiceInput, RankedInput, RuleOutcome } from './choice-input.js';
import {
  departure,
  type Ineligible,
  ineligibleText,
  kindOfBackoff,
  kindOfMalformed,
  reasonsOf,
} from './constraint.js';
import { isGivenUp } from './elsewhere.js';
import { awaited } from './first-election.js';
import { requestedBefore, withLastGood } from './planned-change.js';

/** Returns what to do if no eligible node is elected, or if the elected node has failed. */
export function replacement(all: RankedInput): RuleOutcome {
  const [best, ...others] = all.ranking;
  if (best === undefined) return nobodyEligible(all);
  const first = awaited(all, all.ranking, all.lookedForMs);
  if (first !== null) return { ...nobody(all.elected, first.reason), recheckInMs: first.leftMs };
  return replace(all, [best, ...others]);
}

function replace(all: RankedInput, ranking: BestFirst): RuleOutcome {
  const { elected, members, failures, config, failedSite, againstElected } = all;
  const { best, why } = bestBySite(withLastGood(all, ranking), failedSite, members, config);
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

function nobodyEligible(all: RankedInput): RuleOutcome {
  const { elected, ineligible, againstElected, failedSite, config } = all;
  // A malformed registration does not end a leadership if no other node could take over.
  if (leads(all) && againstElected.every(({ kind }) => kind === kindOfMalformed)) {
    const why = `it leads, and no other node is eligible: ${reasonsOf(againstElected)}`;
    return { reason: why };
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

function nobody(elected: Elected, reason: string): RuleOutcome {
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
function leastRecentlyFailed(input: ChoiceInput, ineligible: readonly Ineligible[]): RuleOutcome | null {
  const { failures, config, epochMs, elected } = input;
  const onlyInBackoff = ineligible
    .filter(({ ineligibleReasons: found }) => found.every(({ kind }) => kind === kindOfBackoff))
    .map(({ node }) => node);
  const [record] = failures
    .filter(({ node }) => onlyInBackoff.includes(node))
    .toSorted((a, b) => fromInstant(a.failedAt) - fromInstant(b.failedAt));
  if (record === undefined) return null;
  const waitMs = retryAtMs(record, config) - epochMs;
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

/**
 * Whether a node of `site` may be tried after a leader failed in `failedSite`, assuming that no other node is
 * available.
 */
export function mayFollow(site: string | null, failedSite: string | null, config: GroupConfig): boolean {
  const { from, strength } = config.siteRules.afterFailure;
  return from === 'any-site' || strength === 'soft' || failedSite === null || site !== failedSite;
}

/**
 * The node that the site rule lets replace a failed leader. `best` is null if no node may replace the leader
 * for now. `why` is how the rule affected the result, for display. It is null if the rule had no effect.
 */
type Replacement =
  | { readonly best: Ranked; readonly why: string | null }
  | { readonly best: null; readonly why: string };

/**
 * Returns the best node of `ranking` that may replace a failed leader. `failedSite` is the site in which the
 * leader failed. `ranking` contains at least one node.
 */
export function bestBySite(
  ranking: readonly [Ranked, ...Ranked[]],
  failedSite: string | null,
  members: readonly Member[],
  config: GroupConfig,
): Replacement {
  const [best] = ranking;
  if (
    config.siteRules.afterFailure.from === 'any-site' ||
    failedSite === null ||
    siteOf(best.node, members) !== failedSite
  ) {
    return { best, why: null };
  }
  const elsewhere = ranking.find(({ node }) => siteOf(node, members) !== failedSite);
  const rule = `a leader that failed in site ${failedSite} must be replaced from another site`;
  if (elsewhere !== undefined) return { best: elsewhere, why: rule };
  if (mayFollow(failedSite, failedSite, config))
    return { best, why: `${rule}, but no other site has an eligible node` };
  return { best: null, why: `${rule}, and no other site has an eligible node` };
}
