/** Every order of steps of small groups, explored until none is left; and that what is broken on purpose is found. */
import { describe, expect, it } from 'vitest';
import { Explorer } from './explore.js';
import { explorationOf, scenarioOf } from './scenarios.js';

const maxStates = 200_000;

describe('every interleaving of a small group', () => {
  it.each([
    scenarioOf('first-2', { faults: ['crash', 'lose', 'takeover-fails', 'takeover-hangs'] }),
    scenarioOf('switchover-2', { faults: ['lose', 'takeover-fails', 'takeover-hangs', 'release-hangs'] }),
  ])('$name: keeps every invariant, and comes to rest with a leader', (one) => {
    const { finding, isExhausted } = new Explorer(explorationOf(one)).run({ maxStates });
    expect(finding === null ? '' : [finding.what, ...finding.trace].join('\n')).toBe('');
    expect(isExhausted).toBe(true);
  });
});
