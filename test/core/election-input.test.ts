/** Needs of an elector before it may decide: a recent reading of the clock, or a second look. */
import { describe, expect, it } from 'vitest';
import { type ElectionInput, electionOf } from '../../src/core/election-input.js';
import { newElector } from '../../src/core/elector-memory.js';
import type { GroupSnapshot } from '../../src/model/snapshot.js';
import { constraints } from '../../strategies/constraints/index.js';
import {
  claim,
  config,
  decided,
  epoch0Ms,
  group,
  members,
  strategyOf,
  unreadable,
  versioned,
} from './builders.js';

const settings = config({ timeouts: { takeover: '20s', grace: '1s' } });
const taking = claim('a1', { status: 'PROGRESS' });

function input(change: Partial<GroupSnapshot>, known: Partial<ElectionInput> = {}): ElectionInput {
  const elected = versioned(decided({ node: 'a1', term: 1 }));
  const snapshot = group({ elected, current: taking, members: members('a1', 'b1'), ...change });
  return {
    ...{ snapshot, members: snapshot.members ?? [], config: settings, nowMs: 0 },
    ...{ self: 'b1', strategy: strategyOf(settings), memory: newElector, canFence: false, constraints },
    ...{ clock: { epochMs: epoch0Ms, atMs: 0 }, observedSinceMs: 0 },
    ...known,
  };
}

describe('a decision requires', () => {
  it('a reading of the ensemble’s clock', () => {
    expect(electionOf(input({}, { clock: null }))).toMatchObject({ pending: 'clock' });
    expect(electionOf(input({}))).toMatchObject({ epochMs: epoch0Ms, failed: null });
  });

  it('a newer reading if a candidate is late', () => {
    const { memory } = electionOf(input({}));
    expect(electionOf(input({}, { memory, nowMs: 21_999 }))).toMatchObject({ failed: null });
    expect(electionOf(input({}, { memory, nowMs: 22_000 }))).toMatchObject({ pending: 'clock' });
  });

  it('no newer reading if the decision is malformed: the candidate is not to blame', () => {
    const elected = unreadable();
    const { memory } = electionOf(input({ elected }));
    expect(electionOf(input({ elected }, { memory, nowMs: 22_000 }))).toMatchObject({ failed: null });
  });

  it('a second look if the owner of a claim in PROGRESS is no longer registered', () => {
    const { memory } = electionOf(input({}));
    const first = electionOf(input({ members: members('b1') }, { memory }));
    expect(first).toMatchObject({ pending: 'next-look', memory: { progress: { isOrphaned: true } } });
    const second = electionOf(input({ members: members('b1') }, { memory: first.memory }));
    expect(second).toMatchObject({ failed: null });
  });
});
