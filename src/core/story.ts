import type { GroupSnapshot } from './snapshot.js';

/**
 * The fields by which all lines of one transition are found in the logs of all nodes: the term of the decision that
 * they are about, and its reason. A line about a leadership that a later decision ends bears that decision's term, and
 * in `endsTerm` its own.
 */
export interface Story {
  readonly term: number;
  readonly reason: string;
  readonly endsTerm?: number;
}

/** Of what `ofTerm` began, and the decision of `term` has done. */
export function story(term: number, reason: string, ofTerm: number): Story {
  return term === ofTerm ? { term, reason } : { term, reason, endsTerm: ofTerm };
}

/** Of what stands decided. */
export function decided({ elected }: Pick<GroupSnapshot, 'elected'>): Story {
  const { term = 0, reason = 'the decision cannot be read' } = elected.value ?? {};
  return { term, reason };
}
