/** The work of a thread that runs a user-defined constraint. */
import type { ConstraintInput, Finding, OwnConstraint } from '../model/own-constraint.js';
import { exampleContext, exampleNode } from './example-node.js';
import { constraintIn, findingOf, introductionOf, pureFindingOf } from './held-constraint.js';
import { constraintQuestionSchema } from './messages.js';
import type { Work } from './work.js';

/**
 * Returns the work for a module whose default export is `found`. Throws an Error if `found` is not a
 * constraint, or if a trial run shows that the constraint is not pure.
 */
export function constraintWork(found: unknown): Work {
  const constraint = constraintIn(found);
  const introduction = introductionOf(constraint);
  pureFindingOf(constraint, exampleNode({ node: 'a1' }), exampleContext({}));
  return {
    introduction,
    answerTo: (question) => ({ findings: findings(constraint, constraintQuestionSchema.parse(question)) }),
  };
}

function findings(constraint: OwnConstraint, { nodes, context }: ConstraintInput): [string, Finding][] {
  return nodes.flatMap((node): [string, Finding][] => {
    const found = findingOf(constraint, node, context);
    return found === null ? [] : [[node.node, found]];
  });
}
