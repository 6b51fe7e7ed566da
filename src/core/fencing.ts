/**
 * Actions against a claim whose owner does not release it: the alarm, the fence, and the removal of the claim
 * once its owner is proven dead. Each fence names the versions that the removal must check.
 *
 * Not promised: that a fence succeeds, or that a fence hook is configured. Without a successful fence, the
 * claim remains until its session ends or an operator intervenes.
 */

import { writeDuration } from '../model/duration.js';
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

/**
 * Number of failed fences after which another elector tries. The other elector's fence hook, or its network
 * route to the node, may work.
 */
const fencesBeforeHandover = 2;

export interface FencingInput {
  readonly self: string;
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly elected: Elected;
  readonly memory: ElectorMemory;
  readonly canFence: boolean;
  /** Current time on this node's monotonic clock. */
  readonly nowMs: number;
}

/**
 * Returns the actions against a claim that was not released in time. Returns an empty list before the time
 * limit has expired.
 */
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
  const alarm = (remedy: string) =>
    memory.alarmed === current.token ? [] : [alarmOf(input, node, watched.limitMs, remedy)];
  if (hasFencedInVain(input, current, node)) {
    const reason = `onFence failed ${fencesBeforeHandover} times on this node: another elector must fence ${node}`;
    return [...alarm(byOtherElector), { do: 'give-up-seat', reason, configVersion: null }];
  }
  if (!canFence) return alarm(`No onFence hook is set: ${byHand(input, node)}`);
  if (fence === null) return alarm(`Petrel cannot fence it: ${byHand(input, node)}`);
  return [...alarm(`Fencing ${node}`), { do: 'fence', fence }];
}

/**
 * Whether this node's fences have failed too often and another node can try. The other node must not be the
 * one to be fenced.
 */
function hasFencedInVain(
  { self, members, memory }: FencingInput,
  { token }: Claim,
  node: string | null,
): boolean {
  if (memory.failedFences?.token !== token || memory.failedFences.count < fencesBeforeHandover) return false;
  return members.some((member) => member.seat !== null && member.node !== self && member.node !== node);
}

/**
 * Returns the actions if the stuck claim belongs to this node. A node cannot fence itself, but another
 * elector can fence it. This node therefore hands over the elector role if another node has a seat.
 */
function leftToOthers(input: FencingInput, { token }: Claim, limitMs: number): FencingAction[] {
  const { self, members, memory } = input;
  const canOthers = members.some(({ node, seat }) => seat !== null && node !== self);
  const remedy = canOthers ? byOtherElector : `No other node can fence it: ${byHand(input, self)}`;
  const alarm = memory.alarmed === token ? [] : [alarmOf(input, self, limitMs, remedy)];
  if (!canOthers) return alarm;
  const reason = 'this node has not released leader/current in time: another elector must fence it';
  // Return this action in every round, because its write may fail and this node may become the elector again.
  return [...alarm, { do: 'give-up-seat', reason, configVersion: null }];
}

const byOtherElector = 'Another node must become the elector and fence it';

/** Returns what operators must do if no node fences the owner. */
function byHand({ elected }: FencingInput, node: string | null): string {
  if (node === null) return 'find and stop the service that owns leader/current';
  if (node === elected.node) return `stop what remains of the earlier service on ${node}`;
  return `stop the service on ${node}, then run petrel node evict ${node} --dead`;
}

function alarmOf(
  { elected, members }: FencingInput,
  node: string | null,
  limitMs: number,
  remedy: string,
): FencingAction {
  const isCandidateHere = members.some((member) => member.node === elected.node);
  const candidate =
    elected.node === null
      ? 'no node is elected'
      : `${elected.node} ${isCandidateHere ? 'is waiting' : 'is elected but not registered'}`;
  const owner = node ?? 'an unknown node';
  const message = `${owner} has not released leadership after ${writeDuration(limitMs)}; ${candidate}. ${remedy}`;
  return { do: 'alarm', message, node };
}

/**
 * Returns the fence for the claim's owner. Returns null in three cases:
 * - The owner is an earlier incarnation of the candidate. The fence would hit the candidate itself.
 * - The candidate is not registered, or its registration is unreadable. Nothing would show whether the
 *   candidate has claimed since then.
 * - The candidate has claimed under this decision. `current` was read before the registrations and may be
 *   outdated.
 *
 * In all other cases, the claim that was read is still the current one, as long as neither `elected` nor the
 * candidate's registration changes. No node other than the candidate can make a new claim.
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
