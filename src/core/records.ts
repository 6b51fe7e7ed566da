/**
 * Builds history records of transitions from the znodes. A record contains the node, the reason, and the
 * duration of each phase on the ensemble's clock.
 */

import { fromInstant, toInstant } from '../model/names.js';
import type { Registration } from '../model/registration.js';
import { type Claim, type GroupSnapshot, type Member, ownerName } from '../model/snapshot.js';
import {
  type Elected,
  type FailureDetail,
  type HistoryHead,
  type HistoryRecord,
  initialHistoryHead,
  noCommand,
  type TransitionRecord,
} from '../model/znodes.js';
import { type Failed, failureOf, failureReason } from './backoff.js';
import { electedPlace, isFallback } from './effective-decision.js';
import type { Election } from './election-input.js';

interface RecordInput {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
}

/**
 * Returns the head of the history, which contains data about the last recorded transition. Returns null if
 * there is no history. An unreadable head counts as the initial one. This causes one duplicate record, but
 * the history is not lost.
 */
function headOf({ snapshot }: RecordInput): HistoryHead | null {
  return snapshot.history === null ? null : (snapshot.history.value ?? initialHistoryHead);
}

/**
 * End of a decision whose node never became READY: the node's failure, if any, and the reason for the next
 * decision.
 */
export interface Ending {
  readonly failed: Failed | null;
  readonly next: string;
}

/**
 * Returns the record of the transition that the new decision ends. Returns null if the transition was already
 * recorded, if the decision of that transition is lost, or if there is no history.
 */
export function ended(input: RecordInput, elected: Elected, ending: Ending): TransitionRecord | null {
  const { snapshot } = input;
  const head = headOf(input);
  if (isFallback(snapshot, elected) || head === null || head.term >= elected.term) return null;
  const claim = claimOf(input, elected);
  if (claim?.value?.status === 'READY')
    return { ...transition(input, elected, claim), outcome: 'READY', error: null };
  const record = transition(input, elected, claim);
  return {
    ...record,
    fencingToken: record.fencingToken ?? ownFailure(input, elected)?.token ?? null,
    outcome: elected.node === null ? 'NOBODY' : 'FAILED',
    error: errorOf(input, elected, ending),
  };
}

function claimOf({ snapshot: { current }, members }: RecordInput, elected: Elected): Claim | null {
  const owner = current === null ? null : ownerName(current, members);
  return owner !== null && owner === elected.node ? current : null;
}

/**
 * Returns the current transition as far as it has progressed. The record that is written when it reaches
 * READY contains the same data.
 */
export function recordSoFar(
  input: RecordInput,
  elected: Elected,
): Omit<TransitionRecord, 'outcome' | 'error'> {
  return transition(input, elected, claimOf(input, elected));
}

/**
 * Returns the failure that the elected node reports under this decision. The failure counts if it names the
 * current version of `elected`. It also counts if the decision has already noted it, for example while the
 * group is paused. Returns null if no failure counts.
 */
function ownFailure({ snapshot, members }: RecordInput, elected: Elected): Registration['lastFailure'] {
  const own = members.find(({ node }) => node === elected.node)?.value?.lastFailure ?? null;
  if (own === null) return null;
  const isNoted = notedReason(elected) === failureReason(own.detail);
  return isNoted || own.electedVersion === snapshot.elected.version ? own : null;
}

/**
 * Returns the failure reason that the decision has noted for its node. Returns null for a failure whose
 * backoff has ended, because that failure is older than the decision.
 */
function notedReason({ node, failures }: Elected): string | null {
  const noted = failureOf(failures, node);
  return noted?.until == null ? null : noted.reason;
}

function errorOf(input: RecordInput, elected: Elected, { failed, next }: Ending): FailureDetail | null {
  const own = ownFailure(input, elected);
  if (own !== null) return own.detail;
  if (elected.node === null) return null;
  const reason = failed?.reason ?? notedReason(elected) ?? `replaced before it was READY: ${next}`;
  return { phase: 'takeover', reason, ...noCommand };
}

/** Builds a transition from the znodes. Its times are those of the znodes, on the ensemble's clock. */
function transition(
  input: RecordInput,
  elected: Elected,
  claim: Claim | null,
): Omit<TransitionRecord, 'outcome' | 'error'> {
  const { snapshot, members } = input;
  const electedAtMs = snapshot.elected.modifiedAtMs;
  const ready = claim?.value?.status === 'READY' ? claim : null;
  // A release ends before the next claim, even if the node changed its registration again after that.
  const latestMs = claim?.createdAtMs ?? Number.POSITIVE_INFINITY;
  const resumes = resumedBy(input, elected, claim);
  const release =
    resumes === null
      ? releaseBefore(input, elected, latestMs)
      : ownRelease(input, elected, resumes, latestMs);
  const takeover = members.find(({ node }) => node === elected.node)?.value?.lastTakeover;
  const token = claim === null ? null : String(claim.token);
  const takeoverMs = takeover?.token === token ? takeover.durationMs : null;
  return {
    kind: 'transition',
    term: elected.term,
    fencingToken: token,
    node: elected.node,
    site: elected.site,
    strategy: elected.strategy,
    ...whyOf(elected, resumes),
    electedAt: toInstant(electedAtMs),
    claimedAt: claim === null ? null : toInstant(claim.createdAtMs),
    readyAt: ready === null ? null : toInstant(ready.modifiedAtMs),
    by: elected.by,
    resumes,
    release,
    phases: {
      releaseMs: release?.durationMs ?? null,
      claimMs: untilMs(claim, resumes === null ? toInstant(electedAtMs) : resumes.endedAt),
      takeoverMs: ready === null ? null : (takeoverMs ?? ready.modifiedAtMs - ready.createdAtMs),
    },
  };
}

type Resumes = TransitionRecord['resumes'];

/**
 * Returns the earlier leadership under the same decision, as the claim describes it. If the claim does not
 * describe one, the history head still shows whether there was one.
 */
function resumedBy({ snapshot }: RecordInput, elected: Elected, claim: Claim | null): Resumes {
  if (claim === null) return null;
  const resumes = claim.value?.resumes ?? null;
  if (resumes !== null) {
    const { token, reason, agoMs } = resumes;
    return { token, reason, endedAt: toInstant(claim.createdAtMs - agoMs) };
  }
  const head = snapshot.history?.value ?? initialHistoryHead;
  const isAgain = head.term === elected.term && head.fencingToken !== String(claim.token);
  return isAgain && head.fencingToken !== null
    ? { token: head.fencingToken, reason: null, endedAt: null }
    : null;
}

function whyOf(elected: Elected, resumes: Resumes): Pick<TransitionRecord, 'previous' | 'reason' | 'cause'> {
  const { previous, reason, cause } = elected;
  if (resumes === null) return { previous, reason, cause };
  const ending = resumes.reason ?? 'no reason reported';
  return {
    previous: electedPlace(elected),
    reason: `leads again under the same decision after it stopped: ${ending}`,
    cause: 'retry',
  };
}

function untilMs(claim: Claim | null, from: string | null): number | null {
  return claim === null || from === null ? null : Math.max(0, claim.createdAtMs - fromInstant(from));
}

/**
 * Returns how the earlier leadership ended. Its release began when the node stopped leading. Returns null if
 * the node does not report the release.
 */
function ownRelease(
  { members }: RecordInput,
  { node }: Elected,
  { token, endedAt }: NonNullable<Resumes>,
  latestMs: number,
): TransitionRecord['release'] {
  const own = members.find((member) => member.node === node);
  if (own?.value?.lastRelease?.token !== token) return null;
  const { result, error, durationMs } = own.value.lastRelease;
  return {
    node: own.node,
    result,
    error,
    durationMs,
    endedAt: endedAt === null ? null : toInstant(Math.min(fromInstant(endedAt) + durationMs, latestMs)),
  };
}

/**
 * Returns the release by the previous leader. The token distinguishes it from an earlier release by the same
 * node. The release ended when the node deleted its claim. The same transaction wrote the node's
 * registration, so the registration's time is used. Returns null if the previous leader does not report the
 * release.
 */
function releaseBefore(
  { snapshot, members }: RecordInput,
  elected: Elected,
  latestMs: number,
): TransitionRecord['release'] {
  const previous = members.find(({ node }) => node === elected.previous?.node);
  const token = snapshot.history?.value?.fencingToken ?? null;
  if (previous?.value?.lastRelease?.token !== token) return null;
  const { term, result, error, durationMs } = previous.value.lastRelease;
  const endedAt = term === elected.term ? toInstant(Math.min(previous.modifiedAtMs, latestMs)) : null;
  return { node: previous.node, result, error, durationMs, endedAt };
}

/** Returns the READY record that is due, with the version of the history's head that was read, or null. */
export function readyRecord(
  input: Election,
): { readonly record: TransitionRecord; readonly headVersion: number } | null {
  const { snapshot, elected, memory } = input;
  const { current, history } = snapshot;
  const isReady = current?.value?.status === 'READY' && current.value.term === elected.term;
  if (!isReady || memory.watched !== null || history === null) return null;
  const record = reachedReady(input, elected, current);
  return record === null ? null : { record, headVersion: history.version };
}

/**
 * Returns the record of a transition that has reached READY. Returns null if the transition is already
 * recorded, or if there is no history.
 */
export function reachedReady(input: RecordInput, elected: Elected, current: Claim): TransitionRecord | null {
  const head = headOf(input);
  if (head === null || (head.term === elected.term && head.fencingToken === String(current.token)))
    return null;
  return { ...transition(input, elected, current), outcome: 'READY', error: null };
}

/**
 * Returns the duration of each phase, without overlap. If the recorded time until the claim includes the
 * release, the release is subtracted from it.
 */
export function phasesInTurn({
  phases,
  release,
}: Pick<TransitionRecord, 'phases' | 'release'>): TransitionRecord['phases'] {
  const { releaseMs, claimMs, takeoverMs } = phases;
  const withinMs = release?.endedAt === null ? 0 : (releaseMs ?? 0);
  return { releaseMs, claimMs: claimMs === null ? null : Math.max(0, claimMs - withinMs), takeoverMs };
}

/** Formats a history record as one line, for display. */
export function recordText(record: HistoryRecord): string {
  if (record.kind === 'change') return record.what;
  const { slot, term, outcome, node, previous } = record;
  const which = slot === undefined ? '' : `slot ${slot}, `;
  return `${which}term ${term}, ${previous?.node ?? 'none'} → ${node ?? 'none'}: ${outcome}`;
}
