// A custom strategy: nodes with a tag come first, then those with more free memory in whole gigabytes.
import { z } from 'zod';

/** @type {import('petrel/strategies').Strategy<{ tag: string }> & { version: string }} */
const taggedFirst = {
  name: 'tagged-first',
  version: '1.0.0',
  description: 'nodes with a tag first, then by free memory',
  usesScores: true,
  options: z.strictObject({ tag: z.string() }),
  rank: ({ candidates, options: { tag } }) => {
    const marked = candidates.map(({ node, tags, scores }) => {
      return {
        node,
        isTagged: Object.hasOwn(tags, tag),
        free: Math.floor(Number(scores.get('free-gb') ?? 0)),
      };
    });
    marked.sort(
      (a, b) => Number(b.isTagged) - Number(a.isTagged) || b.free - a.free || (a.node < b.node ? -1 : 1),
    );
    let grade = 0;
    return marked.map(({ node, isTagged, free }, index) => {
      const better = marked[index - 1];
      // Nodes that differ neither in the tag nor in free memory share a grade, so leadership never moves
      // between them.
      if (better !== undefined && (better.isTagged !== isTagged || better.free !== free)) grade += 1;
      return { node, grade, reason: `${isTagged ? '' : 'not '}tagged ${tag}, ${free} GB free`, score: free };
    });
  },
};

export default taggedFirst;
