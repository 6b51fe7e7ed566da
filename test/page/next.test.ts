import { describe, expect, it } from 'vitest';
import { nextOf } from '../../packages/page/src/next.js';
import type { Explanation } from '../../packages/page/src/schemas.js';
import { leader } from './builders.js';

const explanation: Explanation = {
  slot: 1,
  without: { nodes: ['a1'], sites: [] },
  elected: { node: 'a1', term: 1 },
  choice: {
    node: 'b1',
    changes: true,
    cause: 'failure',
    reason: 'instead of a1 (no longer registered): site b has priority 50',
  },
  ranking: [{ rank: 1, node: 'b1', site: 'b', grade: 0, reason: 'site b has priority 50' }],
  ineligible: [],
};
const { choice } = explanation;

describe('the next leader', () => {
  it('is the node that the elector would choose without the leader, as a supposition', () => {
    const next = nextOf(explanation, null);
    expect(next).toMatchObject({
      headline: 'If a1 left now, b1 would follow',
      reason: 'site b has priority 50',
    });
  });

  it('is the node that the elector would choose now if no node leads', () => {
    const now = { ...explanation, without: { nodes: [], sites: [] } };
    expect(nextOf(now, null).headline).toBe('b1 would lead now');
  });

  it('is no node if no node is eligible, or if the group is paused', () => {
    for (const node of [null, 'a1']) {
      const next = nextOf({ ...explanation, choice: { ...choice, node, reason: 'paused by eve' } }, null);
      expect(next).toMatchObject({
        headline: 'If a1 left now, no node would follow',
        reason: 'paused by eve',
      });
    }
  });

  it('is the published successor, with its reason', () => {
    const successor = { node: 'b1', nobody: false, reason: 'site b has priority 50' };
    expect(nextOf(explanation, { leader: leader(), successor })).toMatchObject({
      headline: 'If a1 leaves, b1 follows',
      reason: 'site b has priority 50',
    });
  });

  it('is no node if the elector has published that no node can follow', () => {
    const successor = { node: null, nobody: true, reason: 'no other node is registered' };
    expect(nextOf(explanation, { leader: leader(), successor })).toMatchObject({
      headline: 'If a1 leaves, no node can follow',
      reason: 'no other node is registered',
    });
  });

  it('is another node if the leader fails, where a rule says so', () => {
    const successor = { node: 'a2', nobody: false, reason: 'site a has priority 100' };
    expect(nextOf(explanation, { leader: leader(), successor })).toMatchObject({
      headline: 'If a1 leaves, a2 follows',
      reason: 'site a has priority 100; if a1 fails, b1 follows',
    });
  });

  it('is a supposition while the elector has published no node, or only for an earlier leader', () => {
    const undecided = {
      leader: leader(),
      successor: { node: null, nobody: false, reason: 'scores may change' },
    };
    const earlier = {
      leader: leader({ node: 'a2' }),
      successor: { node: 'b2', nobody: false, reason: 'any' },
    };
    for (const published of [undecided, earlier])
      expect(nextOf(explanation, published).headline).toBe('If a1 left now, b1 would follow');
  });
});
