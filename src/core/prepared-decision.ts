/**
 * Determines when a departing leader may put the elector's prepared decision into effect, and what the
 * successor may assume when it is notified.
 */
import type { GroupSnapshot } from '../model/snapshot.js';
import type { PreparedDecision } from '../model/znodes.js';

/**
 * Returns the decision that the elector has prepared for the departure of `self`. Returns null if there is
 * none, or if the snapshot shows that the basis of the decision has changed.
 */
export function preparedDecision(
  { successor = null, elected, config }: GroupSnapshot,
  self: string,
): PreparedDecision | null {
  const prepared = successor?.value?.prepared ?? null;
  if (prepared === null || elected.value === null || config.value === null) return null;
  const { decision, electedVersion, configVersion } = prepared;
  if (elected.value.node !== self || electedVersion !== elected.version) return null;
  // Versions start over if a znode is deleted and created again, but terms do not.
  if (configVersion !== config.version || decision.term !== elected.value.term + 1) return null;
  return decision.node === self || config.value.paused !== null ? null : prepared;
}

/**
 * Returns the state of the group under the assumption that the leader has handed over to `self` since the
 * snapshot was read. Returns null if `self` is not the published successor. Call this only if, since that
 * read, the claim has changed and the seat of `self` has been written to. The successor can then claim
 * without a read, in a write that checks two versions:
 *
 * - The published successor must still be the one that was read. Only a publication or a decision for this
 *   node writes to the node's seat, so the write to the seat was a decision.
 * - `elected` must be one version later than the version on which the prepared decision is based. So only one
 *   decision was made, and it is the one for this node.
 *
 * Not promised: that this decision is the prepared one. The elector may have made another decision for the
 * same node and the same term, for example after a crash. Only the reason and the cause then differ.
 */
export function afterHandover(snapshot: GroupSnapshot, self: string): GroupSnapshot | null {
  const { successor, elected } = snapshot;
  if (!successor?.value?.prepared) return null;
  const { prepared } = successor.value;
  if (prepared.decision.node !== self || prepared.electedVersion !== elected.version) return null;
  const decided = { ...elected, value: prepared.decision, problem: null, version: elected.version + 1 };
  return { ...snapshot, elected: decided, current: null, assumedFrom: successor.version };
}
