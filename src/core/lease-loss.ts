/**
 * A leadership that ended though the decision for its node stands: its lease was not renewed, say. The node
 * claims anew by the same decision, and what it knows of the one before goes into that claim: for the
 * history, since nothing else tells since when nobody led, and for the elector, which leaves a node that
 * loses its lease again and again.
 *
 * Only who was in touch all the time can tell a node that was out of touch from an ensemble that was away. So
 * an elector counts only the losses that it witnessed, and none across a change of the ensemble's own
 * leader.
 */

import type { GroupConfig } from '../model/group-config.js';
import { type Claim, claimOwner, type Member } from '../model/snapshot.js';
import type { ClaimContent, Elected } from '../model/znodes.js';
import { type Failed, leaseLossesWithin, leaseLossOverMs } from './backoff.js';
import { unevennessMs } from './ensemble-clock.js';
import type { Lease } from './lease.js';

export interface LeaseLoss {
  readonly slot: number;
  readonly term: number;
  readonly token: bigint;
  /** Why it ended; one line, for people. */
  readonly reason: string;
  /** When its node stopped leading; monotonic, its own. */
  readonly atMs: number;
  /** Its lease was not renewed, and nothing is known that excuses the node. */
  readonly lostLease: boolean;
}

/** Of more than these no claim tells. */
const maxLeaseLosses = 10;

/**
 * What a node knows of its leaderships that ended, the oldest first, with one that has ended by `nowMs`,
 * under this lease.
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
 * The same once the node has claimed again: the ensemble may have been away, where it has another leader now.
 */
export function excused(leaseLosses: readonly LeaseLoss[], token: bigint): readonly LeaseLoss[] {
  const last = leaseLosses.at(-1);
  if (last === undefined || epochOf(last.token) === epochOf(token)) return leaseLosses;
  return [...leaseLosses.slice(0, -1), { ...last, lostLease: false }];
}

/** The reign of the ensemble's leader that committed a change: the upper half of its zxid. */
function epochOf(zxid: bigint): bigint {
  return zxid >> 32n;
}

/**
 * What a claim made now, by the decision of a slot's term, says of the leadership before it; null: there was
 * none by that one.
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
  readonly current: Claim | null;
  /** Monotonic. */
  readonly nowMs: number;
  /** The same instant on the ensemble's clock, milliseconds since the epoch. */
  readonly epochMs: number;
  /** Since when this node can tell whether the ensemble was there, monotonic. */
  readonly observedSinceMs: number;
}

/**
 * The elected node has come back from one lease loss too many; null: it has not, or it cannot be told whose
 * fault they were.
 */
export function lostLeaseAgain(observed: ObservedLosses, elected: Elected): Failed | null {
  const { config, members, current, nowMs, epochMs, observedSinceMs } = observed;
  const { term, resumes = null } = current?.value ?? {};
  if (current === null || resumes === null || !resumes.lostLease || term !== elected.term) return null;
  const owner = claimOwner(current, members);
  if (owner === null || owner.node !== elected.node || config.paused !== null) return null;
  if (epochOf(BigInt(resumes.token)) !== epochOf(current.token)) return null;
  const claimedAgoMs = epochMs - current.createdAtMs;
  // One that has led for so long has got over it; one that lies ahead was made before the clock was set back.
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
    reason: `lost its lease ${often} within ${within.text}: ${resumes.reason}`,
  };
}
