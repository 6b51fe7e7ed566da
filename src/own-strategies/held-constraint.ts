/** Enforces the contract of a user-defined constraint, both in its thread and in its author's tests. */
import { isDeepStrictEqual } from 'node:util';
import { builtInKinds } from '../../strategies/constraints/index.js';
import { describeIssues } from '../model/names.js';
import {
  type ConstraintContext,
  type ConstraintNode,
  type Finding,
  findingSchema,
  type OwnConstraint,
} from '../model/own-constraint.js';
import { plainMessage } from '../model/plain-message.js';
import { frozen } from './frozen.js';
import { type ConstraintIntroduction, constraintSchema } from './messages.js';
import { withoutSideEffects } from './side-effects.js';

/** Returns the value as a constraint. Throws an Error if it is not one. */
export function constraintIn(found: unknown): OwnConstraint {
  if (isConstraint(found)) return found;
  throw new Error('the default export is not a constraint: expected name, description, and a function check');
}

function isConstraint(value: unknown): value is OwnConstraint {
  if (typeof value !== 'object' || value === null) return false;
  return 'name' in value && 'description' in value && 'check' in value && typeof value.check === 'function';
}

/**
 * Returns the constraint's own description, with defaults filled in. Throws an Error if the description is
 * invalid.
 */
export function introductionOf(constraint: OwnConstraint): ConstraintIntroduction {
  const {
    name,
    description,
    version = null,
    ends = 'planned',
    canBeForced = true,
    minutes = [],
  } = constraint;
  const read = constraintSchema.safeParse({ name, description, version, ends, canBeForced, minutes });
  if (!read.success)
    throw new Error(read.error.issues.map(({ message }) => plainMessage(message)).join('; '));
  if (builtInKinds.has(name)) {
    throw new Error(`${name} is the name of a built-in constraint: choose another name`);
  }
  return read.data;
}

/**
 * Returns the result of the constraint's `check`. Throws whatever `check` throws. Throws an Error if the
 * result is invalid.
 */
export function findingOf(
  constraint: OwnConstraint,
  node: ConstraintNode,
  context: ConstraintContext,
): Finding | null {
  const answer: unknown = withoutSideEffects('constraint', () => constraint.check(node, context));
  if (answer === null) return null;
  if (answer instanceof Promise) {
    throw new Error('check returned a promise: it must be a plain function, not an async function');
  }
  const finding = findingSchema.safeParse(answer);
  if (finding.success) return finding.data;
  const what = typeof answer === 'object' ? describeIssues(finding.error).join('; ') : String(answer);
  throw new Error(
    `check must return null or {strength, reason}, but for ${node.node} it returned an invalid value: ${what}`,
  );
}

/**
 * Does the same as `findingOf`, and also tests for purity by running `check` twice on frozen input. This test
 * cannot detect every impurity.
 */
export function pureFindingOf(
  constraint: OwnConstraint,
  node: ConstraintNode,
  context: ConstraintContext,
): Finding | null {
  const [given, frozenContext] = [frozen(structuredClone(node)), frozen(structuredClone(context))];
  const first = findingOf(constraint, given, frozenContext);
  if (isDeepStrictEqual(first, findingOf(constraint, given, frozenContext))) return first;
  throw new Error('check returns different results for the same node and input');
}
