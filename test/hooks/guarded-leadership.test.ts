import { expect, it } from 'vitest';
import { newGuardedLeadership, releaseOf } from '../../src/hooks/guarded-leadership.js';

it('a leadership without a release to run is released by proving that nothing of it is left', () => {
  const leadership = newGuardedLeadership(3);
  expect(leadership.releaseRequested).toBe(false);
  expect(releaseOf(leadership, 'the agent died')).toMatchObject({
    leadership: 3,
    phase: 'release',
    name: 'onRelease',
    command: null,
    foreground: false,
    env: { PETREL_REASON: 'the agent died' },
    timeoutMs: 0,
  });
});
