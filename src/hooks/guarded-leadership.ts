import type { HookResult, WorkloadLease } from '../ports/workload.js';
import { type RunRequest, unasked } from './messages.js';

const defaultGraceMs = 2000;

/** State that the guard keeps about a leadership. */
export interface GuardedLeadership {
  readonly id: number;
  lease: WorkloadLease | null;
  /** Prepared release, which runs if no release is requested. */
  release: RunRequest | null;
  /** Whether a takeover has started or a release was requested. In either case, a release is due. */
  begun: boolean;
  released: boolean;
  /** Reason why the guard itself is ending the leadership. Null if the guard is not ending it. */
  ending: string | null;
  /** Whether the agent had requested a release before the guard began to end the leadership. */
  releaseRequested: boolean;
  /** Outcome of the release that the guard ran without a request. Null until that release has ended. */
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
    releaseRequested: false,
    ended: null,
  };
}

/** Returns the release that runs if no release is requested. */
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
