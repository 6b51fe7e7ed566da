import { describe, expect, it } from 'vitest';
import type { History, TransitionRecord } from '../../packages/page/src/schemas.js';
import { historyKey, huesOf, leaderHues, rowsOf, stripOf } from '../../packages/page/src/timeline.js';
import { leader, node, status } from './builders.js';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();

function record(term: number, change: Partial<TransitionRecord> = {}): TransitionRecord {
  return {
    kind: 'transition',
    term,
    fencingToken: String(term),
    node: 'b1',
    site: 'b',
    previous: { node: 'a1', site: 'a' },
    reason: 'requested',
    cause: 'planned',
    outcome: 'READY',
    error: null,
    electedAt: at(term * 10),
    claimedAt: at(term * 10),
    readyAt: at(term * 10),
    resumes: null,
    release: null,
    phases: { releaseMs: null, claimMs: 0, takeoverMs: 0 },
    leaderlessMs: null,
    leaderlessAtLeast: false,
    ...change,
  };
}

function history(change: Partial<History> = {}): History {
  return { records: [], gaps: [], problems: [], ...change };
}

describe('the rows of the history', () => {
  it('show each phase once, on one scale', () => {
    const slow = record(2, { phases: { releaseMs: 3_000, claimMs: 4_000, takeoverMs: 6_000 } });
    const quick = record(1, { phases: { releaseMs: null, claimMs: null, takeoverMs: 5_000 } });
    const [first, second] = rowsOf(history({ records: [slow, quick] }));
    expect(first).toMatchObject({
      headline: 'a1 → b1 (planned)',
      bars: [
        { phase: 'release', lengthMs: 3_000, share: 0.3 },
        { phase: 'claim', lengthMs: 1_000, share: 0.1 },
        { phase: 'takeover', lengthMs: 6_000, share: 0.6 },
      ],
    });
    expect(second).toMatchObject({ bars: [{ phase: 'takeover', share: 0.5 }] });
  });

  it('say that a leader came back, since when it had stopped; and take no release off that was over before', () => {
    const phases = { releaseMs: 3_000, claimMs: 4_000, takeoverMs: 0 };
    const again = record(2, { resumes: { endedAt: at(50) }, release: { endedAt: at(53) }, phases });
    const later = record(3, { release: { endedAt: null }, phases });
    expect(rowsOf(history({ records: [later, again] }))).toMatchObject([
      { at: at(30), bars: [{}, { phase: 'claim', lengthMs: 4_000 }, {}] },
      {
        at: at(50),
        headline: 'b1 leads again (planned)',
        bars: [{}, { phase: 'claim', lengthMs: 1_000 }, {}],
      },
    ]);
  });

  it('say what failed and how, and what people did', () => {
    const error = {
      phase: 'takeover',
      reason: 'exit code 1',
      command: 'start billing',
      exitCode: 1,
      signal: null,
      durationMs: 20,
      outputTail: ['no disk'],
    };
    const change = { kind: 'change', by: 'eve', what: 'paused', reason: 'network', at: at(3) } as const;
    const nobody = record(1, { node: null, outcome: 'NOBODY', cause: 'nobody' });
    const records = [change, record(2, { outcome: 'FAILED', error, readyAt: null }), nobody];
    expect(rowsOf(history({ records }))).toMatchObject([
      { kind: 'change', headline: 'paused', reason: 'eve: network' },
      {
        headline: 'b1 failed to take over (planned)',
        failed: true,
        error: ['takeover: exit code 1', 'command start billing, exit code 1', 'no disk'],
      },
      { headline: 'no node elected (nobody)', failed: true },
    ]);
  });
});

describe('the strip', () => {
  it('has who led and when nobody did, to the moment of the picture', () => {
    const records = [record(3), record(1, { node: 'a1', previous: null })];
    const gaps = [{ from: at(25), to: at(30), lengthMs: 5_000 }];
    expect(stripOf(history({ records, gaps }), Date.parse(at(50)), null)).toEqual({
      from: at(10),
      to: at(50),
      spans: [
        { leader: 'a1', term: 1, start: 0, length: 0.5, lengthMs: 20_000 },
        { leader: 'b1', term: 3, start: 0.5, length: 0.5, lengthMs: 20_000 },
        { leader: null, term: null, start: 0.375, length: 0.125, lengthMs: 5_000 },
      ],
    });
  });

  it('goes on red while nobody leads', () => {
    const gaps = [{ from: at(40), to: null, lengthMs: null }];
    const unled = stripOf(history({ records: [record(1)], gaps }), Date.parse(at(50)), null);
    expect(unled?.spans.at(-1)).toMatchObject({ leader: null, lengthMs: 10_000 });
    const seen = { sinceMs: Date.parse(at(45)), exact: true };
    const unrecorded = stripOf(history({ records: [record(1)] }), Date.parse(at(50)), seen);
    expect(unrecorded?.spans.at(-1)).toMatchObject({ leader: null, lengthMs: 5_000 });
  });

  it('is none where nobody ever led', () => {
    expect(stripOf(history(), Date.parse(at(50)), null)).toBeNull();
  });
});

describe('the colours of the strip', () => {
  const strip = (leaders: readonly (string | null)[]) => ({
    from: at(0),
    to: at(1),
    spans: leaders.map((leader) => ({ leader, term: 1, start: 0, length: 0, lengthMs: 0 })),
  });

  it('are the same for a node in all strips', () => {
    expect([...huesOf([strip(['b10', null]), strip(['b2', 'a1', 'b10'])])]).toEqual([
      ['a1', 0],
      ['b2', 1],
      ['b10', 2],
    ]);
  });

  it('never mean two nodes', () => {
    const leaders = Array.from({ length: leaderHues + 3 }, (_, n) => `n${n}`);
    const hues = [...huesOf([strip(leaders)]).values()].filter((hue) => hue !== 'other');
    expect(new Set(hues).size).toBe(hues.length);
    expect(hues).toHaveLength(leaderHues);
  });
});

describe('when the history is read again', () => {
  it('is at what it contains, and not at every score', () => {
    const before = historyKey(status());
    expect(historyKey(status({ asOf: at(99), nodes: [node('a1', { score: 7 })] }))).toBe(before);
    expect(historyKey(status({ leader: leader({ status: 'PROGRESS' }) }))).not.toBe(before);
    expect(historyKey(status({ nodes: [node('a1', { state: 'DRAINING' })] }))).not.toBe(before);
  });
});
