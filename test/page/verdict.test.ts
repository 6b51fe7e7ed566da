import { describe, expect, it } from 'vitest';
import { trackOf, witness } from '../../src/page/track.js';
import { leaderlessAfter, verdictOf } from '../../src/page/verdict.js';
import { leader, status, transition } from './builders.js';

describe('the verdict', () => {
  it('is that somebody leads', () => {
    expect(verdictOf(status(), 0)).toMatchObject({ tone: 'led', headline: 'a1 leads', leaderless: false });
  });

  it('is red where nobody leads, however well the agents are', () => {
    const elected = { node: null, term: 4, reason: 'no node is fit' };
    expect(verdictOf(status({ leader: null, elected }), 0)).toEqual({
      tone: 'leaderless',
      headline: 'Nobody leads',
      detail: 'no node is fit',
      leaderless: true,
      clock: null,
    });
  });

  it('names the pause that keeps others from taking over', () => {
    const paused = { by: 'eve', reason: 'network', at: '2026-01-01T00:00:00.000Z' };
    expect(verdictOf(status({ leader: null, paused }), 0)).toMatchObject({
      tone: 'leaderless',
      detail: 'The group is paused by eve, so nobody else takes over: network',
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
      detail: 'Nobody leads before b1 is READY.',
      leaderless: true,
      clock: { elapsedMs: 12_400, limitMs: 60_000 },
    });
    const orphan = status({ leader: leader({ node: 'b1', status: 'PROGRESS' }) });
    expect(verdictOf(orphan, 0)).toMatchObject({ tone: 'leaderless', headline: 'Nobody leads' });
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
    expect(trackOf(status(), null)).toBeNull();
  });

  it('is told phase by phase, with how long each took as far as it was seen', () => {
    const at = (second: number) => ({ asOf: `2026-01-01T00:00:0${second}.000Z` });
    const releasing = status({ ...at(1), transition: transition({ phase: 'releasing', node: 'a1' }) });
    const claiming = status({ ...at(3), transition: transition({ phase: 'claiming' }) });
    const takingOver = status({ ...at(4), transition: transition({ phase: 'taking-over', elapsedMs: 70 }) });
    const seen = witness(witness(witness(null, releasing), claiming), takingOver);
    expect(trackOf(takingOver, seen)).toMatchObject({
      term: 2,
      to: 'b1',
      steps: [
        { state: 'done', label: 'a1 releases', elapsedMs: 2_000 },
        { state: 'done', label: 'b1 claims', elapsedMs: 1_000 },
        { state: 'now', label: 'b1 takes over', elapsedMs: 70, limitMs: 60_000 },
      ],
    });
    expect(trackOf(takingOver, null)?.steps.map(({ elapsedMs }) => elapsedMs)).toEqual([null, null, 70]);
    expect(witness(seen, status())).toBeNull();
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
