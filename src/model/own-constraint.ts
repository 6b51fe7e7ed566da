/**
 * A constraint of a user's own: what it is given, and what it gives. Plain data both ways, for it runs
 * elsewhere.
 */
import * as z from 'zod';
import type { GroupConfig } from './group-config.js';
import type { Registration } from './registration.js';

export const findingSchema = z.object({
  strength: z.enum(['hard', 'soft']),
  /** Stands in the history of a decision that goes by it. */
  reason: z.string().min(1).max(2_000),
});

/** What a constraint has against one node. */
export interface Finding {
  /** hard: the node may not lead. soft: it comes after all nodes that nothing speaks against. */
  readonly strength: 'hard' | 'soft';
  /** For people: continues the node's name ("it is unhealthy: …"), or follows "but" where it is soft. */
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
  /** Those that operators have set, in order. */
  readonly flags: readonly string[];
  /** Nodes that are elected, in order. */
  readonly elected: readonly string[];
}

/**
 * What the module's default export holds. A pure function: the same node and context give the same answer on
 * every machine, with no clock, chance or I/O.
 */
export interface OwnConstraint {
  /** Small letters, digits, dots and hyphens; not the kind of a built-in constraint. */
  readonly name: string;
  /** One line. */
  readonly description: string;
  readonly version?: string;
  /** What the end of a leadership counts as that it puts an end to; default `planned`. */
  readonly ends?: 'planned' | 'failure';
  /** Whether `petrel failover --force` overrides it; default true. */
  readonly canBeForced?: boolean;
  /** Minutes of the day, in UTC, at which it may begin to answer otherwise. Default: none. */
  readonly minutes?: readonly number[];
  /** Null: it has nothing against the node. */
  check(node: ConstraintNode, context: ConstraintContext): Finding | null;
}

/** All nodes at once. */
export interface ConstraintInput {
  /** In order of node ids. */
  readonly nodes: readonly ConstraintNode[];
  readonly context: ConstraintContext;
}

/** Under which a node's registration has its version, beside those of strategies. */
export function constraintKey(name: string): string {
  return `constraint/${name}`;
}
