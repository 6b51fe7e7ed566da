/**
 * When a departing leader may put the decision into force that the elector has prepared, and what the
 * successor may assume when it is notified.
 */
import type { GroupSnapshot } from '../model/snapshot.js';
import type { PreparedDecision } from '../model/znodes.js';

/**
 * Returns the decision that the elector has prepared for the departure of `self`. Returns null if there is
 * none, or if what it rests on has changed since then, as far as the snapshot shows.
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
 * Returns the group as it is if the leader has handed over to `self` since the snapshot was read. Returns
 * null if `self` is not the published successor. Call this only if the claim has changed and the seat of
 * `self` has been written to since then. The successor can then claim without a read, in a write that checks
 * two versions:
 *
 * - The published successor is still the one that was read. Nothing else than a publication and a decision
 *   for this node writes to its seat, so it was a decision.
 * - `elected` is one version later than the one that the prepared decision rests on. So only one decision was
 *   made, and it is the one for this node.
 *
 * Not promised: that this decision is the prepared one. The elector may have made another one for the same
 * node and the same term, for example after a crash. Only its reason and cause then differ.
 */
export function afterHandover(snapshot: GroupSnapshot, self: string): GroupSnapshot | null {
  const { successor = null, elected } = snapshot;
  const prepared = successor?.value?.prepared ?? null;
  if (successor === null || prepared === null || prepared.decision.node !== self) return null;
  if (prepared.electedVersion !== elected.version) return null;
  const decided = { ...elected, value: prepared.decision, problem: null, version: elected.version + 1 };
  return { ...snapshot, elected: decided, current: null, assumedFrom: successor.version };
}
