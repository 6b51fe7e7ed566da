/** A decision that was lost: `leader/elected` is malformed, or was deleted and made anew. */
import type { GroupSnapshot } from '../model/snapshot.js';
import { type Elected, lastTerm } from '../model/znodes.js';

type Decided = Pick<GroupSnapshot, 'elected' | 'current' | 'history'>;

/**
 * What `elected` says; where that is lost, as much as is safe to assume: who leads goes on, and terms never
 * fall.
 */
export function effectiveDecision({ elected, current, history }: Decided): Elected {
  const leader = current?.value ?? null;
  const known = Math.max(leader?.term ?? 0, history?.value?.term ?? 0);
  if (elected.value !== null && elected.value.term >= known) return elected.value;
  // The lost term was recorded, or is the one after; without a history: no term rises more often than its
  // znode.
  const recorded = history?.value == null ? elected.version : history.value.term + 1;
  const lost = elected.problem ?? `it says term ${elected.value?.term}, and there was a term ${known}`;
  return {
    node: leader?.node ?? null,
    site: leader?.site ?? null,
    term: Math.min(Math.max(known, recorded), lastTerm),
    strategy: 'none',
    reason: `what leader/elected said is lost (${lost})`,
    cause: leader === null ? 'nobody' : 'retry',
    by: 'none',
    previous: leader === null ? null : { node: leader.node, site: leader.site },
    priorities: null,
    requested: null,
    failedSite: null,
    failures: [],
  };
}

/** Whether `elected` is not what the snapshot holds, but was made up for it. */
export function isFallback({ elected }: Pick<GroupSnapshot, 'elected'>, decided: Elected): boolean {
  return elected.value !== decided;
}
