/** Context for a hook or a function: the decision that caused the call, and the time limit of the call. */
import { durationMs } from '../../model/duration.js';
import type { GroupConfig } from '../../model/group-config.js';
import type { Elected } from '../../model/znodes.js';
import type { HookContext } from '../../ports/workload.js';

type About = Omit<HookContext, 'term' | 'previousLeader' | 'previousSite' | 'timeoutMs' | 'graceMs'>;

export function hookContext(
  about: About,
  { term, previous }: Elected,
  { timeouts }: GroupConfig,
): HookContext {
  return {
    ...about,
    term,
    previousLeader: previous?.node ?? null,
    previousSite: previous?.site ?? null,
    timeoutMs: durationMs(timeouts[about.phase]),
    graceMs: durationMs(timeouts.grace),
  };
}
