import type { HookResult, WorkloadLease } from '../ports/workload.js';
import { type RunRequest, unasked } from './messages.js';

const defaultGraceMs = 2000;

/** What the guard has in mind of a leadership. */
export interface GuardedLeadership {
  readonly id: number;
  lease: WorkloadLease | null;
  /** What to run when nobody asks. */
  release: RunRequest | null;
  /** A takeover has started, or a release was asked for: a release is due. */
  begun: boolean;
  released: boolean;
  /** Why it ends without being asked. */
  ending: string | null;
  /** The agent had asked for the release before it became due. */
  asked: boolean;
  /** How the release went that nobody asked for. */
  ended: HookResult | null;
}

export function newGuardedLeadership(id: number): GuardedLeadership {
  return {
    id,
    lease: null,
    release: null,
    begun: false,
    released: false,
    ending: null,
    asked: false,
    ended: null,
  };
}

/** What to run when nobody asks. */
export function releaseOf({ id, release }: GuardedLeadership, reason: string): RunRequest {
  const known = release ?? {
    term: 0,
    slot: null,
    name: 'onRelease',
    command: null,
    foreground: false,
    env: {},
    timeoutMs: 0,
    graceMs: defaultGraceMs,
  };
  return {
    ...known,
    id: unasked,
    leadership: id,
    phase: 'release',
    env: { ...known.env, PETREL_REASON: reason },
  };
}
