/** Transitions as the znodes tell them: who, why, and how long each phase took, on the ensemble's clock. */
import { failureOf } from './eligibility.js';
import type { Failed } from './failures.js';
import { toInstant } from './names.js';
import { isRestored } from './restored.js';
import { slotOf, slotStates } from './slots.js';
import { type Claim, type GroupSnapshot, type Member, ownerName } from './snapshot.js';
import {
  type Elected,
  type FailureDetail,
  type HistoryHead,
  type HistoryRecord,
  initialHistoryHead,
  noCommand,
  type Place,
  type Registration,
  type TransitionRecord,
} from './znodes.js';

interface Scene {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
}

/** What was recorded last; a head that cannot be read costs a doubled record, not the history. Null: no history. */
function headOf({ snapshot }: Scene): HistoryHead | null {
  return snapshot.history === null ? null : (snapshot.history.value ?? initialHistoryHead);
}

/** The last node that was READY: the owner of a READY claim, else the elected node if its term was, else whom
 * `elected` remembers. */
export function previousLeader(
  { current, elected, history }: Pick<GroupSnapshot, 'current' | 'elected' | 'history'>,
  members: readonly Member[],
): Place | null {
  if (current?.value?.status === 'READY') {
    return { node: ownerName(current, members) ?? current.value.node, site: current.value.site };
  }
  if (elected.value === null) return null;
  const { node, site, term, previous } = elected.value;
  // The head reaches a term while it lasts only with its READY.
  return node !== null && site !== null && history?.value?.term === term ? { node, site } : previous;
}

/** The record of the transition that the new decision puts an end to, unless it was recorded when it became READY. */
export function ended(scene: Scene, elected: Elected, failed: Failed | null): TransitionRecord | null {
  const { snapshot } = scene;
  const head = headOf(scene);
  if (isRestored(snapshot, elected) || head === null || head.term >= elected.term) return null;
  const claim = claimOf(scene, elected);
  if (claim?.value?.status === 'READY')
    return { ...transition(scene, elected, claim), outcome: 'READY', error: null };
  const told = transition(scene, elected, claim);
  return {
    ...told,
    fencingToken: told.fencingToken ?? ownFailure(scene, elected)?.token ?? null,
    outcome: elected.node === null ? 'NOBODY' : 'FAILED',
    error: errorOf(scene, elected, failed),
  };
}

function claimOf({ snapshot: { current }, members }: Scene, elected: Elected): Claim | null {
  return current !== null && ownerName(current, members) === elected.node ? current : null;
}

/** The transition that stands decided, as far as it has come; what READY says of it while it lasts. */
export function standing(scene: Scene, elected: Elected): Omit<TransitionRecord, 'outcome' | 'error'> {
  return transition(scene, elected, claimOf(scene, elected));
}

/** What the elected node says of its failure under this decision. */
function ownFailure({ snapshot, members }: Scene, elected: Elected): Registration['lastFailure'] {
  const own = members.find(({ node }) => node === elected.node)?.value?.lastFailure ?? null;
  const isOfThis = own?.electedVersion === snapshot.elected.version && slotOf(own) === slotOf(snapshot);
  return isOfThis ? own : null;
}

function errorOf(scene: Scene, elected: Elected, failed: Failed | null): FailureDetail | null {
  const own = ownFailure(scene, elected);
  if (own !== null) return own.detail;
  const reason = failed?.reason ?? failureOf(elected.failures, elected.node ?? '')?.reason;
  return reason === undefined ? null : { phase: 'takeover', reason, ...noCommand };
}

/** A transition as the znodes tell it; its times are theirs, on the ensemble's clock. */
function transition(
  scene: Scene,
  elected: Elected,
  claim: Claim | null,
): Omit<TransitionRecord, 'outcome' | 'error'> {
  const { snapshot, members } = scene;
  const electedAtMs = snapshot.elected.modifiedAtMs;
  const ready = claim?.value?.status === 'READY';
  const release = releaseBefore(scene, elected, claim);
  const own = members.find(({ node }) => node === elected.node)?.value ?? null;
  const token = claim === null ? null : String(claim.token);
  const takeoverMs = own?.lastTakeover?.token === token ? (own?.lastTakeover?.durationMs ?? null) : null;
  return {
    kind: 'transition',
    ...(slotStates(snapshot).length === 1 ? {} : { slot: slotOf(snapshot) }),
    term: elected.term,
    fencingToken: token,
    node: elected.node,
    site: elected.site,
    previous: elected.previous,
    strategy: elected.strategy,
    reason: elected.reason,
    cause: elected.cause,
    electedAt: toInstant(electedAtMs),
    claimedAt: claim === null ? null : toInstant(claim.createdAtMs),
    readyAt: claim !== null && ready ? toInstant(claim.modifiedAtMs) : null,
    by: elected.by,
    release,
    phases: {
      releaseMs: release?.durationMs ?? null,
      claimMs: claim === null ? null : Math.max(0, claim.createdAtMs - electedAtMs),
      takeoverMs: claim === null || !ready ? null : (takeoverMs ?? claim.modifiedAtMs - claim.createdAtMs),
    },
  };
}

/** The previous leader's release, told apart from an earlier one of the same node by its token. Its end is when its claim
 * was given away, which is written with the registration. */
function releaseBefore(
  { snapshot, members }: Scene,
  elected: Elected,
  claim: Claim | null,
): TransitionRecord['release'] {
  const previous = members.find(({ node }) => node === elected.previous?.node) ?? null;
  const told = previous?.value?.lastRelease ?? null;
  if (previous === null || told === null || told.token !== snapshot.history?.value?.fencingToken) return null;
  const { result, error, durationMs } = told;
  const endedAtMs = Math.min(previous.modifiedAtMs, claim?.createdAtMs ?? Number.POSITIVE_INFINITY);
  const endedAt = told.term === elected.term ? toInstant(endedAtMs) : null;
  return { node: previous.node, result, error, durationMs, endedAt };
}

/** The record of a transition that reached READY; null when it is recorded already. */
export function reachedReady(scene: Scene, elected: Elected, current: Claim): TransitionRecord | null {
  const head = headOf(scene);
  if (head === null || (head.term === elected.term && head.fencingToken === String(current.token)))
    return null;
  return { ...transition(scene, elected, current), outcome: 'READY', error: null };
}

/** One line, for people. */
export function recordText(record: HistoryRecord): string {
  if (record.kind === 'change') return record.what;
  const { slot, term, outcome, node, previous } = record;
  const which = slot === undefined ? '' : `slot ${slot}, `;
  return `${which}term ${term}, ${previous?.node ?? 'nobody'} → ${node ?? 'nobody'}: ${outcome}`;
}
