import type * as z from 'zod';
import { groupConfigSchema } from '../model/group-config.js';
import type { ConstraintContext, ConstraintNode } from '../model/own-constraint.js';

/** Returns a healthy node. Omitted fields have an agent's default values. */
export function exampleNode(node: Pick<ConstraintNode, 'node'> & Partial<ConstraintNode>): ConstraintNode {
  return {
    ...{ site: 'a', priority: 100, sitePriority: 100, host: 'localhost', version: '0.0.0', tags: {} },
    health: { ok: true, reason: null },
    ...node,
  };
}

/** Context of a trial run. Omitted parts of the configuration have their default values. */
export type TriedContext = Partial<Omit<ConstraintContext, 'config'>> & {
  readonly config?: z.input<typeof groupConfigSchema>;
};

/**
 * Returns the context of a group in which no node is elected, at midnight. The given fields replace these
 * defaults.
 */
export function exampleContext({ config = {}, ...rest }: TriedContext): ConstraintContext {
  const read = groupConfigSchema.parse(config);
  const flags = Object.keys(read.flags).toSorted();
  return { config: read, minuteOfDay: 0, flags, elected: [], ...rest };
}
