/**
 * A user-defined constraint: its input and its output. Both are plain data, because the constraint runs in
 * another thread.
 */
import * as z from 'zod';
import type { GroupConfig } from './group-config.js';
import type { Registration } from './registration.js';

export const findingSchema = z.object({
  strength: z.enum(['hard', 'soft']),
  /** The history records the reason together with each decision that the finding affects. */
  reason: z.string().min(1).max(2_000),
});

/** A constraint's finding against one node. */
export interface Finding {
  /** With `hard`, the node must not lead. With `soft`, the node ranks after all nodes without a finding. */
  readonly strength: 'hard' | 'soft';
  /**
   * Text for display. It is shown after the node's name ("it is unhealthy: …"). If the constraint is soft,
   * the text is shown after the word "but".
   */
  readonly reason: string;
}

export interface ConstraintNode
  extends Pick<Registration, 'node' | 'site' | 'priority' | 'host' | 'version'> {
  readonly tags: Readonly<Record<string, string>>;
  readonly sitePriority: number;
  readonly health: Readonly<Registration['health']>;
}

export interface ConstraintContext {
  /** The group's configuration. */
  readonly config: GroupConfig;
  /** Minute of the day on the ensemble's clock in UTC, from 0 to 1439. */
  readonly minuteOfDay: number;
  /** Flags that operators have set, sorted. */
  readonly flags: readonly string[];
  /** Elected nodes, sorted. */
  readonly elected: readonly string[];
}

/**
 * A user-defined constraint, which is the default export of its module. `check` is a pure function: the same
 * node and context give the same result on every machine. It does not use a clock, randomness or I/O.
 */
export interface OwnConstraint {
  /**
   * Name of the constraint: lowercase letters, digits, dots and hyphens. It must differ from the `kind` of
   * every built-in constraint.
   */
  readonly name: string;
  /** Description of the constraint, as one line. */
  readonly description: string;
  readonly version?: string;
  /** Cause that is recorded when this constraint ends a leadership. Default: `planned`. */
  readonly ends?: 'planned' | 'failure';
  /** Whether `petrel failover --force` overrides this constraint. Default: true. */
  readonly canBeForced?: boolean;
  /** Minutes of the day, in UTC, at which the result of `check` may change. Default: none. */
  readonly minutes?: readonly number[];
  /** Returns the finding against the node, or null if there is none. */
  check(node: ConstraintNode, context: ConstraintContext): Finding | null;
}

/** Input to a check of all nodes in one call. */
export interface ConstraintInput {
  /** Nodes to check, ordered by node id. */
  readonly nodes: readonly ConstraintNode[];
  readonly context: ConstraintContext;
}

/**
 * Returns the key under which a registration stores the constraint's version. The same table contains the
 * versions of strategies.
 */
export function constraintKey(name: string): string {
  return `constraint/${name}`;
}
