/**
 * A claim whose owner does not give it up: the alarm, the fence, and, once the owner is proven dead, what the
 * removal of its claim must check.
 *
 * Not promised: that a fence succeeds, or that there is one. Without it the claim stands until its session
 * ends or a person steps in.
 */

import type { Registration } from '../model/registration.js';
import { slotOf } from '../model/slots.js';
import type { Claim, GroupSnapshot, Member } from '../model/snapshot.js';
import type { Elected } from '../model/znodes.js';
import type { ElectorMemory, Fence } from './elector-memory.js';
import { overdueMs } from './watchdog.js';

export type FencingAction =
  | { readonly do: 'alarm'; readonly message: string; readonly node: string | null }
  | { readonly do: 'fence'; readonly fence: Fence }
  | { readonly do: 'remove-fenced-claim'; readonly fence: Fence }
  | { readonly do: 'give-up-seat'; readonly reason: string; readonly configVersion: null };

/** The fence may work elsewhere: its hook is the node's own, as is its way to the one to be fenced. */
const fencesBeforeHandover = 2;

export interface FencingInput {
  readonly self: string;
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly elected: Elected;
  readonly memory: ElectorMemory;
  readonly canFence: boolean;
  /** Monotonic. */
  readonly nowMs: number;
}

/** What to do about a claim that is held for too long; nothing while its time is not over. */
export function stuckLeaderActions(input: FencingInput): FencingAction[] {
  const { self, snapshot, memory, canFence, nowMs } = input;
  const { watched } = memory;
  const { current } = snapshot;
  if (current === null || watched?.condition.kind !== 'holding' || overdueMs(watched, nowMs) < 0) return [];
  const { node } = watched.condition;
  if (node === self) return leftToOthers(input, current, watched.limitMs);
  const fence = node === null ? null : fenceOf(input, current, node);
  if (memory.fenced?.token === current.token) {
    return fence === null ? [] : [{ do: 'remove-fenced-claim', fence }];
  }
  const alarm = memory.alarmed === current.token ? [] : [alarmOf(input, node, watched.limitMs)];
  if (hasFencedInVain(input, current, node)) {
    const reason = `onFence failed ${fencesBeforeHandover} times on this node: another elector must fence ${node}`;
    return [...alarm, { do: 'give-up-seat', reason, configVersion: null }];
  }
  return canFence && fence !== null ? [...alarm, { do: 'fence', fence }] : alarm;
}

/** And another node can try: one that is neither this one nor the one to be fenced. */
function hasFencedInVain(
  { self, members, memory }: FencingInput,
  { token }: Claim,
  node: string | null,
): boolean {
  if (memory.failedFences?.token !== token || memory.failedFences.count < fencesBeforeHandover) return false;
  return members.some((member) => member.seat !== null && member.node !== self && member.node !== node);
}

/** A node cannot fence itself: an elector that keeps the claim hands over its role, so that another can. */
function leftToOthers(input: FencingInput, { token }: Claim, limitMs: number): FencingAction[] {
  const { self, members, memory } = input;
  const canOthers = members.some(({ node, seat }) => seat !== null && node !== self);
  const remedy = canOthers ? 'another node must become elector and fence it' : 'it must be stopped by hand';
  const alarm = memory.alarmed === token ? [] : [alarmOf(input, self, limitMs, remedy)];
  if (!canOthers) return alarm;
  const reason = 'this node has not released leader/current in time: another elector must fence it';
  // Not once only: the write may fail, and this node may come to be the elector again.
  return [...alarm, { do: 'give-up-seat', reason, configVersion: null }];
}

function alarmOf(
  { elected, members, canFence }: FencingInput,
  node: string | null,
  limitMs: number,
  remedy?: string,
): FencingAction {
  const isCandidateHere = members.some((member) => member.node === elected.node);
  const candidate =
    elected.node === null
      ? 'no node is elected'
      : `${elected.node} ${isCandidateHere ? 'waits' : 'is elected but not registered'}`;
  const isFenced = node !== null && node !== elected.node && (isCandidateHere || elected.node === null);
  const byHand = 'it must be stopped by hand';
  const fencing = remedy ?? (canFence ? (isFenced ? 'fencing it' : byHand) : `no onFence hook: ${byHand}`);
  const message = `${node ?? 'an unknown node'} still owns leader/current after ${limitMs} ms (${candidate}); ${fencing}`;
  return { do: 'alarm', message, node };
}

/**
 * Null where the owner is an earlier life of the candidate: the fence would hit the candidate. Null while the
 * candidate is not registered: nothing would show that it has come and claimed. And null where `current`,
 * which was read before the registrations, may be outdated: the candidate has claimed under this decision. As
 * long as it has not, and neither `elected` nor its registration moves, the claim read is the claim there is,
 * for nobody else can make one.
 */
function fenceOf({ snapshot, members, elected }: FencingInput, current: Claim, node: string): Fence | null {
  const candidate = members.find((member) => member.node === elected.node) ?? null;
  if (node === elected.node) return null;
  if (candidate === null && elected.node !== null) return null;
  if (candidate !== null && (candidate.value === null || hasClaimed(candidate.value, snapshot))) return null;
  return {
    token: current.token,
    node,
    claimVersion: current.version,
    electedVersion: snapshot.elected.version,
    electedNode: candidate === null ? null : { node: candidate.node, version: candidate.version },
  };
}

function hasClaimed({ claimedUnder, claimedSlot }: Registration, snapshot: GroupSnapshot): boolean {
  return claimedUnder === snapshot.elected.version && slotOf({ slot: claimedSlot }) === slotOf(snapshot);
}
