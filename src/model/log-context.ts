import { type NamedSlot, named } from './named-slot.js';
import type { GroupSnapshot } from './snapshot.js';

/**
 * Fields that identify all log lines of one transition on all nodes: the term and reason of its decision, and
 * the slot if the group has several slots. If a later decision ends a leadership, the log line contains that
 * decision's term. The leadership's own term is then in `endsTerm`.
 */
export interface LogContext extends NamedSlot {
  readonly term: number;
  readonly reason: string;
  readonly endsTerm?: number;
}

/** Returns the log context for a decision in `term` that affects the leadership of `ofTerm`. */
export function logContext(term: number, reason: string, ofTerm: number, slot: NamedSlot): LogContext {
  return term === ofTerm ? { ...slot, term, reason } : { ...slot, term, reason, endsTerm: ofTerm };
}

/** Returns the log context of the current decision. */
export function decided(snapshot: GroupSnapshot): LogContext {
  const { elected, slot = 1, others = [] } = snapshot;
  const { term = 0, reason = 'the decision is malformed' } = elected.value ?? {};
  return { ...named(slot, 1 + others.length), term, reason };
}
