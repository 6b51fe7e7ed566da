/**
 * Lease losses and other cases in which a leadership ended although the decision for its node did not change.
 * The node claims again under the same decision, and the new claim describes the earlier leadership. The
 * history needs this description, because no other znode records when the time without a leader began. The
 * elector needs it to replace a node that loses its lease repeatedly.
 *
 * Only a node that was connected throughout can distinguish a disconnected leader from an unavailable
 * ensemble. An elector therefore counts only the losses that it observed. It does not count a loss during
 * which the ensemble's own leader changed.
 */

import type { Lease } from '../lease/lease.js';
import type { GroupConfig } from '../model/group-config.js';
import { type Claim, claimOwner, type Member } from '../model/snapshot.js';
import type { ClaimContent, Elected } from '../model/znodes.js';
import { type Failed, leaseLossesWithin, leaseLossOverMs } from './backoff.js';
import { unevennessMs } from './ensemble-clock.js';

export interface LeaseLoss {
  readonly slot: number;
  readonly term: number;
  readonly token: bigint;
  /** Why the leadership ended, as one line for display. */
  readonly reason: string;
  /** Instant at which the node stopped leading, on that node's monotonic clock. */
  readonly atMs: number;
  /**
   * Whether the leadership ended because its lease was not renewed. False if a known cause clears the node.
   */
  readonly lostLease: boolean;
}

/** Maximum number of losses that a claim reports. */
const maxLeaseLosses = 10;

/**
 * Adds a leadership to the node's list of ended leaderships. The leadership had this lease and ended no later
 * than `nowMs`. In the list, the oldest leadership comes first.
 */
export function withLeaseLoss(
  leaseLosses: readonly LeaseLoss[],
  ended: Pick<LeaseLoss, 'slot' | 'term' | 'token' | 'reason'>,
  { releaseAtMs }: Lease,
  nowMs: number,
): readonly LeaseLoss[] {
  const leaseLoss = { ...ended, atMs: Math.min(nowMs, releaseAtMs), lostLease: nowMs >= releaseAtMs };
  return [...leaseLosses, leaseLoss].slice(-maxLeaseLosses);
}

/**
 * Clears the last loss if the ensemble has had a new leader since then, because the ensemble may have been
 * unavailable. `token` is the fencing token of the node's new claim.
 */
export function clearedByNewEpoch(leaseLosses: readonly LeaseLoss[], token: bigint): readonly LeaseLoss[] {
  const last = leaseLosses.at(-1);
  if (last === undefined || epochOf(last.token) === epochOf(token)) return leaseLosses;
  return [...leaseLosses.slice(0, -1), { ...last, lostLease: false }];
}

/**
 * Returns the epoch of the ensemble's leader that committed a change. The epoch is the upper half of the
 * change's zxid.
 */
function epochOf(zxid: bigint): bigint {
  return zxid >> 32n;
}

/**
 * Returns what a new claim reports about the previous leadership in the same slot and term. Returns null if
 * there was none.
 */
export function resumption(
  leaseLosses: readonly LeaseLoss[],
  by: Pick<LeaseLoss, 'slot' | 'term'>,
  nowMs: number,
): ClaimContent['resumes'] {
  const last = leaseLosses.at(-1);
  if (last === undefined || last.slot !== by.slot || last.term !== by.term) return null;
  const { token, reason, lostLease } = last;
  const agoMs = (leaseLoss: LeaseLoss) => Math.max(0, nowMs - leaseLoss.atMs);
  const earlier = leaseLosses.slice(0, -1).filter((leaseLoss) => leaseLoss.lostLease);
  return { token: String(token), reason, agoMs: agoMs(last), lostLease, earlierAgoMs: earlier.map(agoMs) };
}

export interface ObservedLosses {
  readonly config: GroupConfig;
  readonly members: readonly Member[];
  readonly current: Claim;
  /** Current time on this node's monotonic clock. */
  readonly nowMs: number;
  /** The same instant as `nowMs`, on the ensemble's clock, in milliseconds since the epoch. */
  readonly epochMs: number;
  /** Earliest monotonic instant for which this node can tell whether the ensemble was available. */
  readonly observedSinceMs: number;
}

/**
 * Returns the failure of an elected node that has claimed again after too many lease losses. Returns null if
 * the number of losses is acceptable, or if their cause is unknown.
 */
export function lostLeaseAgain(observed: ObservedLosses, elected: Elected): Failed | null {
  const { config, members, current, nowMs, epochMs, observedSinceMs } = observed;
  const { term, resumes = null } = current.value ?? {};
  if (resumes === null || !resumes.lostLease || term !== elected.term) return null;
  const owner = claimOwner(current, members);
  if (owner === null || owner.node !== elected.node || config.paused !== null) return null;
  if (epochOf(BigInt(resumes.token)) !== epochOf(current.token)) return null;
  const claimedAgoMs = epochMs - current.createdAtMs;
  // A claim that has existed for this long clears its owner. A claim with a creation time in the future was
  // made before the ensemble's clock was set back.
  if (claimedAgoMs > leaseLossOverMs(config) || claimedAgoMs < -unevennessMs) return null;
  if (observedSinceMs > nowMs - Math.max(0, claimedAgoMs) - resumes.agoMs) return null;
  const within = leaseLossesWithin(config);
  const withinMs = resumes.agoMs + within.ms;
  const times = 1 + resumes.earlierAgoMs.filter((agoMs) => agoMs <= withinMs).length;
  if (times === 1) return null;
  const often = times === 2 ? 'twice' : `${times} times`;
  return {
    node: owner.node,
    incarnation: owner.value?.incarnation ?? 'unknown',
    reason: `it lost its lease ${often} within ${within.text}: ${resumes.reason}`,
  };
}
