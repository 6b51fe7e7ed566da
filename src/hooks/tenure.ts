/** What an agent has asked its keeper for, and keeps in mind until it is settled. */
import type { Logger } from '../log.js';
import type { DutyContext, DutyLease, DutyOutcome } from '../ports/duty.js';

export interface Run {
  readonly context: DutyContext;
  readonly tenure: number;
  readonly log: Logger;
  readonly settle: (outcome: DutyOutcome) => void;
  settled: boolean;
  /** A new keeper runs it when this one dies: once. */
  due: boolean;
  pgid: number | null;
}

export interface Tenure {
  readonly id: number;
  lease: DutyLease | null;
  release: DutyContext | null;
  begun: boolean;
  released: boolean;
}

export function newTenure(id: number): Tenure {
  return { id, lease: null, release: null, begun: false, released: false };
}

/** How long the longest of these may take, its processes' end included. */
export function longestMs(contexts: readonly (DutyContext | null)[]): number {
  const limits = contexts.map((context) => (context === null ? 0 : context.timeoutMs + 2 * context.graceMs));
  return Math.max(0, ...limits);
}
