import { describe, expect, it } from 'vitest';
import { observe, observeAll, stepsOf, stepsOfSlots } from '../../packages/page/src/transition-steps.js';
import { leaderlessAfter, leaderlessSlots, verdictOf } from '../../packages/page/src/verdict.js';
import { leader, status, transition } from './builders.js';

describe('the verdict', () => {
  it('is that somebody leads', () => {
    expect(verdictOf(status(), 0)).toMatchObject({ tone: 'led', headline: 'a1 leads', leaderless: false });
  });

  it('is red where nobody leads, however well the agents are', () => {
    const elected = { node: null, term: 4, reason: 'no node is eligible' };
    expect(verdictOf(status({ leader: null, elected }), 0)).toEqual({
      tone: 'leaderless',
      headline: 'No leader',
      detail: 'no node is eligible',
      leaderless: true,
      clock: null,
    });
  });

  it('names the pause that keeps others from taking over', () => {
    const paused = { by: 'eve', reason: 'network', at: '2026-01-01T00:00:00.000Z' };
    expect(verdictOf(status({ leader: null, paused }), 0)).toMatchObject({
      tone: 'leaderless',
      detail: 'No other node takes over, because eve paused the group: network',
    });
  });

  it('never takes a leader in PROGRESS for one that leads', () => {
    const takesOver = status({
      leader: leader({ node: 'b1', status: 'PROGRESS' }),
      transition: transition({ phase: 'taking-over', node: 'b1', elapsedMs: 12_000, limitMs: 60_000 }),
    });
    expect(verdictOf(takesOver, 400)).toEqual({
      tone: 'moving',
      headline: 'b1 is taking over',
      detail: 'The group has no leader until b1 is READY.',
      leaderless: true,
      clock: { elapsedMs: 12_400, limitMs: 60_000 },
    });
    const orphan = status({ leader: leader({ node: 'b1', status: 'PROGRESS' }) });
    expect(verdictOf(orphan, 0)).toMatchObject({ tone: 'leaderless', headline: 'No leader' });
  });

  it('turns red when a takeover is late', () => {
    const late = status({
      leader: null,
      transition: transition({ phase: 'claiming', elapsedMs: 9_000, limitMs: 10_000 }),
    });
    expect(verdictOf(late, 0).tone).toBe('moving');
    expect(verdictOf(late, 1_500)).toMatchObject({ tone: 'leaderless', leaderless: true });
  });
});

describe('a change of leader', () => {
  it('is nothing while none is under way', () => {
    expect(stepsOf(status(), null)).toBeNull();
  });

  it('is shown phase by phase, with how long each took as far as it was seen', () => {
    const at = (second: number) => ({ asOf: `2026-01-01T00:00:0${second}.000Z` });
    const releasing = status({ ...at(1), transition: transition({ phase: 'releasing', node: 'a1' }) });
    const claiming = status({ ...at(3), transition: transition({ phase: 'claiming' }) });
    const takingOver = status({ ...at(4), transition: transition({ phase: 'taking-over', elapsedMs: 70 }) });
    const seen = observe(observe(observe(null, releasing), claiming), takingOver);
    expect(stepsOf(takingOver, seen)).toMatchObject({
      term: 2,
      to: 'b1',
      steps: [
        { state: 'done', label: 'a1 releases', elapsedMs: 2_000 },
        { state: 'done', label: 'b1 claims', elapsedMs: 1_000 },
        { state: 'now', label: 'b1 takes over', elapsedMs: 70, limitMs: 60_000 },
      ],
    });
    expect(stepsOf(takingOver, null)?.steps.map(({ elapsedMs }) => elapsedMs)).toEqual([null, null, 70]);
    expect(observe(seen, status())).toBeNull();
  });
});

describe('since when nobody leads', () => {
  const noon = status({ leader: null, asOf: '2026-01-01T12:00:00.000Z' });
  const later = status({ leader: null, asOf: '2026-01-01T12:00:09.000Z' });

  it('is known where the page saw a leader before', () => {
    const first = leaderlessAfter({ status: status(), leaderless: null }, noon);
    expect(first).toEqual({ sinceMs: Date.parse(noon.asOf), exact: true });
    expect(leaderlessAfter({ status: noon, leaderless: first }, later)).toEqual(first);
    expect(leaderlessAfter({ status: noon, leaderless: first }, status())).toBeNull();
  });

  it('is at least since the first picture where it did not', () => {
    expect(leaderlessAfter(null, noon)).toEqual({ sinceMs: Date.parse(noon.asOf), exact: false });
    const since = '2026-01-01T11:59:00.000Z';
    const claimed = status({ leader: leader({ status: 'PROGRESS', since }) });
    expect(leaderlessAfter(null, claimed)).toEqual({ sinceMs: Date.parse(since), exact: false });
  });
});

describe('a group of several leaders', () => {
  const { elected } = status();
  const own = { elected, preferred: null };
  const first = { slot: 1, leader: leader(), transition: null, ...own };
  const second = { slot: 2, leader: leader({ node: 'b1' }), transition: null, ...own };
  const underWay = transition({ phase: 'claiming', elapsedMs: 9_000, limitMs: 10_000 });

  it('is as its slots are, and as bad as the worst of them', () => {
    expect(verdictOf(status({ leaders: [first, second] }), 0)).toEqual({
      tone: 'led',
      headline: '2 of 2 slots have a leader',
      detail: '',
      leaderless: false,
      clock: null,
    });
    const moving = status({ leaders: [first, { ...second, leader: null, transition: underWay }] });
    expect(verdictOf(moving, 0)).toMatchObject({
      tone: 'moving',
      headline: '1 of 2 slots have a leader',
      detail: 'Slot 2: b1 is elected. No leader: b1 has not claimed leadership yet.',
      leaderless: true,
    });
    expect(verdictOf(moving, 2_000).tone).toBe('leaderless');
    expect(verdictOf(status({ leaders: [first, { ...second, leader: null }] }), 0)).toMatchObject({
      tone: 'leaderless',
      headline: '1 of 2 slots have a leader',
      detail: 'Slot 2: No leader. site a has priority 100',
    });
  });

  it('has a change, and a time without a leader, of each slot', () => {
    const before = status({ leaders: [first, second] });
    const noon = '2026-01-01T12:00:00.000Z';
    const moving = status({
      asOf: noon,
      leaders: [first, { ...second, leader: null, transition: underWay }],
    });
    expect(stepsOfSlots(before, new Map())).toEqual([]);
    expect(stepsOfSlots(moving, observeAll(new Map(), moving))).toMatchObject([
      { slot: 2, term: 2, to: 'b1' },
    ]);
    const since = leaderlessSlots({ status: before, leaderless: new Map() }, moving);
    expect([...since]).toEqual([[2, { sinceMs: Date.parse(noon), exact: true }]]);
    // The page has never seen the new slot with a leader, so the slot may have had none for longer.
    const alone = { status: status(), leaderless: new Map() };
    expect(leaderlessSlots(alone, moving).get(2)).toMatchObject({ exact: false });
    expect(leaderlessSlots({ status: moving, leaderless: since }, before).size).toBe(0);
  });
});
