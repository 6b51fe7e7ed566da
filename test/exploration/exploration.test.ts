/** Every order of steps of small groups, explored until none is left; and that what is broken on purpose is found. */
import { describe, expect, it } from 'vitest';
import { Explorer } from './explore.js';
import { explorationOf, type Scenario, scenarios } from './scenarios.js';

const maxStates = 200_000;

function scenario(name: string, change: Partial<Scenario> = {}): Scenario {
  const found = scenarios.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return { ...found, ...change };
}

describe('every interleaving of a small group', () => {
  it.each([
    scenario('first-2', { faults: ['crash', 'lose', 'takeover-fails', 'takeover-hangs'] }),
    scenario('switchover-2', { faults: ['lose', 'takeover-fails', 'takeover-hangs', 'release-hangs'] }),
  ])('$name: keeps every invariant, and comes to rest with a leader', (one) => {
    const { finding, isExhausted } = new Explorer(explorationOf(one)).run({ maxStates });
    expect(finding === null ? '' : [finding.what, ...finding.trace].join('\n')).toBe('');
    expect(isExhausted).toBe(true);
  });
});
