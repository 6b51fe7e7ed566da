/** What an agent has asked its supervisor for, and keeps in mind until it is settled. */
import type { Logger } from '../log.js';
import type { HookContext, HookResult, WorkloadLease } from '../ports/workload.js';

export interface Run {
  readonly context: HookContext;
  readonly leadership: number;
  readonly log: Logger;
  readonly settle: (outcome: HookResult) => void;
  settled: boolean;
  /** A new supervisor runs it when this one dies: once. */
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

/** How long the longest of these may take, its processes' end included. */
export function longestMs(contexts: readonly (HookContext | null)[]): number {
  const limits = contexts.map((context) => (context === null ? 0 : context.timeoutMs + 2 * context.graceMs));
  return Math.max(0, ...limits);
}
