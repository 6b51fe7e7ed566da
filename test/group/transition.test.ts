import { expect, it } from 'vitest';
import { groupPaths } from '../../src/core/paths.js';
import { transitionOf } from '../../src/group/transition.js';
import { decided, epoch0Ms, group, member, versioned } from '../core/builders.js';

it('a leader that lost its claim and is to claim again has been waited for since then, not since the decision', () => {
  const lastRelease = { token: '101', term: 3, result: 'ok', durationMs: 5, error: null };
  const lost = { ...member('a1', { lastRelease }), modifiedAtMs: epoch0Ms + 300_000 };
  const view = {
    ...group({
      elected: versioned(decided({ node: 'a1', term: 3 })),
      history: versioned({ term: 3, fencingToken: '101' }),
    }),
    members: [lost],
    paths: groupPaths('/group'),
    seats: [],
    problems: [],
    newestChangeMs: 0,
  };
  expect(transitionOf(view, epoch0Ms + 301_000)).toMatchObject({ phase: 'claiming', elapsedMs: 1_000 });
});
