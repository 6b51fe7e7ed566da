import { expect, it } from 'vitest';
import { transitionOf } from '../../src/group/transition.js';
import { groupPaths } from '../../src/model/paths.js';
import { builtInRules } from '../../strategies/index.js';
import { claim, decided, epoch0Ms, group, member, versioned } from '../core/builders.js';

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
    rules: builtInRules,
    seats: [],
    problems: [],
    newestChangeMs: 0,
  };
  expect(transitionOf(view, epoch0Ms + 301_000)).toMatchObject({ phase: 'claiming', elapsedMs: 1_000 });
});

it('T4 the old leader’s release is not counted against the new one', () => {
  const lastRelease = { token: '101', term: 4, result: 'ok', durationMs: 8_000, error: null };
  const released = { ...member('b1', { lastRelease }), modifiedAtMs: epoch0Ms + 8_000 };
  const view = {
    ...group({
      elected: versioned(decided({ node: 'a1', term: 4, previous: { node: 'b1', site: 'b' } })),
      history: versioned({ term: 3, fencingToken: '101' }),
    }),
    members: [member('a1'), released],
    paths: groupPaths('/group'),
    rules: builtInRules,
    seats: [],
    problems: [],
    newestChangeMs: 0,
  };
  expect(transitionOf(view, epoch0Ms + 8_500)).toMatchObject({ phase: 'claiming', elapsedMs: 500 });
});

it('A8 a release that is tried again and again is counted from the decision', () => {
  const lastRelease = {
    token: '101',
    term: 4,
    result: 'timed-out',
    durationMs: 2_000,
    error: 'not proven dead',
  };
  const stuck = { ...member('b1', { lastRelease }), modifiedAtMs: epoch0Ms + 300_000 };
  const view = {
    ...group({
      current: claim('b1'),
      elected: versioned(decided({ node: 'a1', term: 4, previous: { node: 'b1', site: 'b' } })),
      history: versioned({ term: 3, fencingToken: '101' }),
    }),
    members: [member('a1'), stuck],
    paths: groupPaths('/group'),
    rules: builtInRules,
    seats: [],
    problems: [],
    newestChangeMs: 0,
  };
  expect(transitionOf(view, epoch0Ms + 301_000)).toMatchObject({ phase: 'releasing', elapsedMs: 301_000 });
});
