/** Transitions as the znodes tell them: who, why, and how long each phase took, on the ensemble's clock. */
import type { Failed } from './failures.js';
import { toInstant } from './names.js';
import type { Claim, GroupSnapshot, Member } from './snapshot.js';
import type { Elected, FailureDetail, HistoryHead, Registration, TransitionRecord } from './znodes.js';

interface Scene {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
}

/** The record of the transition that the new decision puts an end to, when it never became READY. */
export function endedBadly(scene: Scene, elected: Elected, failed: Failed | null): TransitionRecord | null {
  const { snapshot } = scene;
  const head = snapshot.history?.value;
  if (elected.term === 0 || head == null || head.term >= elected.term) return null;
  const member = scene.members.find(({ node }) => node === elected.node)?.value ?? null;
  const own = member?.lastFailure;
  const detail: FailureDetail | null =
    own != null && own.electedVersion === snapshot.elected.version
      ? own.detail
      : failed === null
        ? null
        : { phase: 'takeover', reason: failed.reason, ...noCommand };
  const claim = snapshot.current?.value?.node === elected.node ? snapshot.current : null;
  return {
    ...transition(scene, elected, claim),
    outcome: elected.node === null ? 'NOBODY' : 'FAILED',
    error: detail,
  };
}

const noCommand = { command: null, exitCode: null, signal: null, durationMs: null, outputTail: [] };

/** A transition as the znodes tell it; its times are theirs, on the ensemble's clock. */
function transition(
  { snapshot, members }: Scene,
  elected: Elected,
  claim: Claim | null,
): Omit<TransitionRecord, 'outcome' | 'error'> {
  const electedAtMs = snapshot.elected.modifiedAtMs;
  const ready = claim?.value?.status === 'READY';
  const previous = members.find(({ node }) => node === elected.previous?.node)?.value ?? null;
  const own = members.find(({ node }) => node === elected.node)?.value ?? null;
  const token = claim === null ? null : String(claim.token);
  const takeoverMs = own?.lastTakeover?.token === token ? (own?.lastTakeover?.durationMs ?? null) : null;
  return {
    kind: 'transition',
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
    phases: {
      releaseMs: releaseMs(previous?.lastRelease ?? null, snapshot.history?.value ?? null),
      claimMs: claim === null ? null : Math.max(0, claim.createdAtMs - electedAtMs),
      takeoverMs: claim === null || !ready ? null : (takeoverMs ?? claim.modifiedAtMs - claim.createdAtMs),
    },
  };
}

/** The previous leader's release, told apart from an earlier one of the same node by its token. */
function releaseMs(release: Registration['lastRelease'], head: HistoryHead | null): number | null {
  return release !== null && release.token === head?.fencingToken ? release.durationMs : null;
}

/** The record of a transition that reached READY; null when it is recorded already. */
export function reachedReady(scene: Scene, elected: Elected, current: Claim): TransitionRecord | null {
  const head = scene.snapshot.history?.value;
  if (head == null || (head.term === elected.term && head.fencingToken === String(current.token)))
    return null;
  return { ...transition(scene, elected, current), outcome: 'READY', error: null };
}
