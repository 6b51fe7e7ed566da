import * as z from 'zod';
import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';
import { gradeBy, lowerIdFirst } from './grade.js';

const options = strictObject({
  /** Node ids in order of preference, the most preferred first. */
  order: z
    .array(z.string(), 'expected a list of node ids, the most preferred first')
    .min(1, 'expected at least one node id, the most preferred first')
    .refine((order) => new Set(order).size === order.length, 'a node is listed twice'),
});

/**
 * Ranks the nodes in the order of the option `order`. Nodes that the option does not name come last, with
 * equal grades.
 */
export const preferenceList: Strategy<z.infer<typeof options>> = {
  name: 'preference-list',
  description: 'the nodes in the order given by option `order`; all others last',
  options,
  rank: ({ candidates, options: { order } }) => {
    const places = new Map(order.map((node, index) => [node, index]));
    const place = (node: string) => places.get(node) ?? order.length;
    return gradeBy(candidates, (a, b) => place(a.node) - place(b.node)).map(({ candidate, grade }) => ({
      node: candidate.node,
      grade,
      tie: lowerIdFirst,
      reason: places.has(candidate.node)
        ? `number ${place(candidate.node) + 1} on the preference list`
        : 'not on the preference list',
    }));
  },
};
