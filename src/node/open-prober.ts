/** Opens the prober that measures round trips. */
import { hostname } from 'node:os';
import type { Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';
import { Prober, type ProbeSettings } from '../probe/prober.js';

/**
 * Opens a prober. Returns null if the node does not probe. Throws PetrelError INVALID if the prober cannot
 * listen.
 */
export async function openProber(
  settings: ProbeSettings | null | undefined,
  node: { readonly node: string; readonly root: string; readonly log: Logger },
): Promise<Prober | null> {
  if (settings == null) return null;
  return await Prober.open({ ...settings, ...node, hostName: hostname(), clock: systemClock });
}
