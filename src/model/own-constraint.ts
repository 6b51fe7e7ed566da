/**
 * A user-defined constraint: its input and its output. Both are plain data, because it runs in another
 * process.
 */
import * as z from 'zod';
import type { GroupConfig } from './group-config.js';
import type { Registration } from './registration.js';

export const findingSchema = z.object({
  strength: z.enum(['hard', 'soft']),
  /** Recorded in the history of a decision that it affects. */
  reason: z.string().min(1).max(2_000),
});

/** A constraint's finding against one node. */
export interface Finding {
  /** hard: the node must not lead. soft: it ranks after all nodes without a finding. */
  readonly strength: 'hard' | 'soft';
  /**
   * For display. Continues the node's name ("it is unhealthy: …"), or follows "but" if the constraint is
   * soft.
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
  /** On the ensemble's clock, in UTC, from 0 to 1439. */
  readonly minuteOfDay: number;
  /** Flags that operators have set, in order. */
  readonly flags: readonly string[];
  /** Elected nodes, in order. */
  readonly elected: readonly string[];
}

/**
 * The module's default export. `check` is a pure function: the same node and context give the same answer on
 * every machine. It uses no clock, randomness or I/O.
 */
export interface OwnConstraint {
  /** Lowercase letters, digits, dots and hyphens. It must not be the kind of a built-in constraint. */
  readonly name: string;
  /** One line. */
  readonly description: string;
  readonly version?: string;
  /** Cause that is recorded when this constraint ends a leadership. Default: `planned`. */
  readonly ends?: 'planned' | 'failure';
  /** Whether `petrel failover --force` overrides it. Default: true. */
  readonly canBeForced?: boolean;
  /** Minutes of the day, in UTC, at which its answer may change. Default: none. */
  readonly minutes?: readonly number[];
  /** Returns null if it has no finding against the node. */
  check(node: ConstraintNode, context: ConstraintContext): Finding | null;
}

/** All nodes in one call. */
export interface ConstraintInput {
  /** In order of node ids. */
  readonly nodes: readonly ConstraintNode[];
  readonly context: ConstraintContext;
}

/** Returns the key of the constraint's version in a registration. Strategies share this table. */
export function constraintKey(name: string): string {
  return `constraint/${name}`;
}
