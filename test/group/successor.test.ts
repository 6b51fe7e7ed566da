import { describe, expect, it } from 'vitest';
import { successorText } from '../../src/group/successor.js';

describe('the text about the next leader', () => {
  it.each([
    [
      { node: 'b1', nobody: false, reason: 'site b has priority 100' },
      'If a1 leaves, b1 follows: site b has priority 100',
    ],
    [
      { node: null, nobody: true, reason: 'no other node is registered' },
      'If a1 leaves, no node can follow: no other node is registered',
    ],
    [
      { node: null, nobody: false, reason: 'a switchover is requested' },
      'If a1 leaves, the elector decides: a switchover is requested',
    ],
  ])('says which node follows, that none can, or that the elector decides: %j', (successor, text) => {
    expect(successorText(successor, 'a1')).toBe(text);
  });
});
