/** When a leader that leaves may put the decision into force that the elector has prepared. */
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
