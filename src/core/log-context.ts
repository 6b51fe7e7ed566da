import { type NamedSlot, named } from '../model/named-slot.js';
import type { GroupSnapshot } from '../model/snapshot.js';

/**
 * The fields by which all lines of one transition are found in the logs of all nodes: the term of the
 * decision that they are about, its slot where the group has several, and its reason. A line about a
 * leadership that a later decision ends bears that decision's term, and in `endsTerm` its own.
 */
export interface LogContext extends NamedSlot {
  readonly term: number;
  readonly reason: string;
  readonly endsTerm?: number;
}

/** Of what `ofTerm` began, and the decision of `term` has done. */
export function logContext(term: number, reason: string, ofTerm: number, slot: NamedSlot): LogContext {
  return term === ofTerm ? { ...slot, term, reason } : { ...slot, term, reason, endsTerm: ofTerm };
}

/** Of what stands decided. */
export function decided(snapshot: GroupSnapshot): LogContext {
  const { elected, slot = 1, others = [] } = snapshot;
  const { term = 0, reason = 'the decision is malformed' } = elected.value ?? {};
  return { ...named(slot, 1 + others.length), term, reason };
}
