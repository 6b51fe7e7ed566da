/** Helpers for testing user-defined constraints. */
import type { ConstraintNode, Finding, OwnConstraint } from '../model/own-constraint.js';
import { exampleContext, exampleNode, type TriedContext } from './example-node.js';
import { constraintIn, introductionOf, pureFindingOf } from './held-constraint.js';

export type { TriedContext } from './example-node.js';

/** A node for a test. Fields that do not matter to the test can be omitted. */
export type TriedConstraintNode = Pick<ConstraintNode, 'node'> & Partial<ConstraintNode>;

/**
 * Returns the constraint's finding for a node, or null if there is none. Fields that are omitted from
 * `context` have the values of a group in which no node is elected, at midnight. Throws whatever `check`
 * throws. Throws an Error if the constraint breaks its contract.
 */
export function tryConstraint(
  constraint: OwnConstraint,
  node: TriedConstraintNode,
  context: TriedContext = {},
): Finding | null {
  introductionOf(constraintIn(constraint));
  return pureFindingOf(constraint, exampleNode(node), exampleContext(context));
}
