import type * as z from 'zod';
import { groupConfigSchema } from '../model/group-config.js';
import type { ConstraintContext, ConstraintNode } from '../model/own-constraint.js';

/** A healthy node, with what is left out as agents have it by default. */
export function exampleNode(node: Pick<ConstraintNode, 'node'> & Partial<ConstraintNode>): ConstraintNode {
  return {
    ...{ site: 'a', priority: 100, sitePriority: 100, host: 'localhost', version: '0.0.0', tags: {} },
    health: { ok: true, reason: null },
    ...node,
  };
}

/** What is left out of the configuration has its default. */
export type TriedContext = Partial<Omit<ConstraintContext, 'config'>> & {
  readonly config?: z.input<typeof groupConfigSchema>;
};

/** A group at midnight, in which nobody is elected. */
export function exampleContext({ config = {}, ...rest }: TriedContext): ConstraintContext {
  const read = groupConfigSchema.parse(config);
  const flags = Object.keys(read.flags).toSorted();
  return { config: read, minuteOfDay: 0, flags, elected: [], ...rest };
}
