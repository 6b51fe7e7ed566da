import { describe, expect, it } from 'vitest';
import { nextOf } from '../../packages/page/src/next.js';
import type { Explanation } from '../../packages/page/src/schemas.js';

const explanation: Explanation = {
  slot: 1,
  without: { nodes: ['a1'], sites: [] },
  elected: { node: 'a1', term: 1 },
  choice: { node: 'b1', changes: true, cause: 'failure', reason: 'site b has priority 50' },
  ranking: [],
  ineligible: [],
};
const { choice } = explanation;

describe('the next leader', () => {
  it('is whom the elector would choose without the leader', () => {
    expect(nextOf(explanation).headline).toBe('b1 would follow a1');
    expect(nextOf({ ...explanation, without: { nodes: [], sites: [] } }).headline).toBe('b1 would lead now');
  });

  it('is nobody if no node is eligible, or if the group is paused', () => {
    for (const node of [null, 'a1']) {
      const next = nextOf({ ...explanation, choice: { ...choice, node, reason: 'paused by eve' } });
      expect(next).toMatchObject({ headline: 'No node would follow a1', reason: 'paused by eve' });
    }
  });
});
