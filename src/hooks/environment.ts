import { brief } from '../model/names.js';
import type { HookContext } from '../ports/workload.js';

/**
 * Returns the variables that a hook gets in addition to the agent's own variables. If a value is unknown, its
 * variable is empty but never absent. Characters that the system would reject are removed, and the reason is
 * truncated, because a modified value is better than a hook that cannot start. The supervisor adds
 * PETREL_DEADLINE_MS.
 */
export function hookEnvironment(context: HookContext): Record<string, string> {
  const texts = {
    PETREL_PHASE: context.phase,
    PETREL_ROOT: context.root,
    PETREL_NODE: context.node,
    PETREL_SITE: context.site,
    PETREL_TERM: String(context.term),
    PETREL_SLOT: String(context.slot),
    PETREL_FENCING_TOKEN: context.fencingToken === null ? '' : context.fencingToken.toString(),
    PETREL_REASON: brief(context.reason),
    PETREL_PREVIOUS_LEADER: context.previousLeader ?? '',
    PETREL_PREVIOUS_SITE: context.previousSite ?? '',
    PETREL_NEW_LEADER: context.newLeader ?? '',
    PETREL_TARGET: context.target ?? '',
  };
  const printable = Object.entries(texts).map(([name, text]) => [name, text.replaceAll('\0', '')]);
  return Object.fromEntries(printable);
}
