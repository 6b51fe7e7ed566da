/** For the tests of users' own constraints. */
import type { ConstraintNode, Finding, OwnConstraint } from '../model/own-constraint.js';
import { exampleContext, exampleNode, type TriedContext } from './example-node.js';
import { constraintIn, introductionOf, pureFindingOf } from './held-constraint.js';

export type { TriedContext } from './example-node.js';

/** A node, with what a test does not care about left out. */
export type TriedConstraintNode = Pick<ConstraintNode, 'node'> & Partial<ConstraintNode>;

/**
 * What a constraint has against a node; null: nothing. What is left out of `context` is as in a group at
 * midnight in which nobody is elected. Throws what `check` throws, and an Error where the constraint breaks
 * its contract.
 */
export function tryConstraint(
  constraint: OwnConstraint,
  node: TriedConstraintNode,
  context: TriedContext = {},
): Finding | null {
  introductionOf(constraintIn(constraint));
  return pureFindingOf(constraint, exampleNode(node), exampleContext(context));
}
