/** An agent's requests to its supervisor. The agent remembers each request until the request is settled. */
import type { Logger } from '../log.js';
import type { HookContext, HookResult, WorkloadLease } from '../ports/workload.js';

export interface Run {
  readonly context: HookContext;
  readonly leadership: number;
  readonly log: Logger;
  readonly settle: (outcome: HookResult) => void;
  settled: boolean;
  /** Whether a new supervisor must repeat the run if the current one dies. A run is repeated only once. */
  due: boolean;
  pgid: number | null;
}

export interface SupervisedLeadership {
  readonly id: number;
  lease: WorkloadLease | null;
  release: HookContext | null;
  begun: boolean;
  released: boolean;
}

export function newSupervisedLeadership(id: number): SupervisedLeadership {
  return { id, lease: null, release: null, begun: false, released: false };
}

/** Returns the longest time that any of these runs may take, including the time to end its processes. */
export function longestMs(contexts: readonly (HookContext | null)[]): number {
  const limits = contexts.map((context) => (context === null ? 0 : context.timeoutMs + 2 * context.graceMs));
  return Math.max(0, ...limits);
}
