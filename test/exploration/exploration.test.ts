/**
 * Explores every order of steps of small groups until no state is left, and checks that the exploration finds
 * deliberate mistakes. This test includes only scenarios that end within seconds. `npm run explore` runs all
 * of them.
 */
import { describe, expect, it } from 'vitest';
import { Explorer } from './explore.js';
import { sabotages } from './sabotages.js';
import { explorationOf, scenarioOf } from './scenarios.js';

const maxStates = 100_000;

describe('every interleaving of a small group', () => {
  it.each([
    scenarioOf('first-2', { faults: ['crash', 'lose', 'takeover-fails', 'takeover-hangs'] }),
    scenarioOf('first-3', { faults: ['takeover-fails', 'takeover-hangs'] }),
    scenarioOf('first-3-twice', { faults: ['lose', 'takeover-fails', 'release-hangs'] }),
    scenarioOf('switchover-2', { faults: ['lose', 'takeover-fails', 'takeover-hangs', 'release-hangs'] }),
    scenarioOf('back-2', { faults: ['takeover-fails'] }),
    scenarioOf('fence-3'),
    scenarioOf('pause-2'),
    scenarioOf('leave-2', { faults: ['lose', 'release-hangs', 'takeover-fails'] }),
    scenarioOf('leave-3', { faults: ['lose'] }),
    scenarioOf('leave-2-paused', { faults: [], maxFaults: 0 }),
    scenarioOf('leave-3-asked', { faults: [], maxFaults: 0 }),
    scenarioOf('crash-2'),
    scenarioOf('crash-2-elsewhere', { faults: ['crash', 'lose'] }),
    scenarioOf('crash-3', { faults: ['crash', 'lose'] }),
    scenarioOf('crash-2-paused', { faults: ['crash', 'lose'] }),
    scenarioOf('crash-3-asked'),
    scenarioOf('question-c'),
    scenarioOf('question-d', { maxFaults: 1 }),
  ])('$name: keeps every invariant, and comes to rest with a leader', (scenario) => {
    const { finding, isExhausted, seen } = new Explorer(explorationOf(scenario)).run({ maxStates });
    expect(finding === null ? '' : [finding.what, ...finding.trace].join('\n')).toBe('');
    expect(isExhausted).toBe(true);
    if (scenario.goal !== undefined) expect(seen, scenario.goal.what).toBeGreaterThan(0);
  });
});

describe('a rule that is broken is found', () => {
  it.each(sabotages)('$rule', ({ scenario, sabotage, finding }) => {
    const found = new Explorer(explorationOf(scenario, sabotage)).run({ maxStates }).finding;
    expect(found?.what ?? 'nothing was found').toMatch(finding);
  });
});
