import { describe, expect, it } from 'vitest';
import { printableHistory } from '../../src/cli/commands/history.js';
import { unlimited } from '../../src/cli/layout.js';
import { gapsOf, type History, historySchema, readHistory } from '../../src/group/history.js';
import { newestRecords } from '../../src/tree/records.js';
import { newGroup, transition } from '../support/group.js';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

describe('the history', () => {
  it('counts for a leader that came back from when it had stopped, or not at all if that is unknown', () => {
    const again = { term: 1, cause: 'retry', electedAt: at(0) } as const;
    const known = { token: '7', reason: 'the lease was not renewed', endedAt: at(300) };
    const unknown = { token: '8', reason: null, endedAt: null };
    const newestFirst = [
      transition({ ...again, claimedAt: at(600), readyAt: at(601), resumes: unknown }),
      transition({ ...again, claimedAt: at(302), readyAt: at(303), resumes: known }),
      transition({ ...again, cause: 'first', claimedAt: at(1), readyAt: at(2) }),
    ];
    expect(newestFirst.map((record) => gapsOf(newestFirst).get(record))).toEqual([
      undefined,
      { from: at(300), to: at(303), lengthMs: 3000, atLeast: false },
      undefined,
    ]);
  });

  it('T2 says "at least" if it is unknown when a leader was lost, and not if the leader released', async () => {
    await using group = await newGroup();
    const claimed = { claimedAt: at(100.1), readyAt: at(100.2) };
    await group.record(
      transition({ term: 1, cause: 'first', electedAt: at(0), claimedAt: at(1), readyAt: at(2) }),
    );
    // The leader had crashed at 96 s, and its session ended at 100 s.
    await group.record(transition({ term: 2, cause: 'failure', electedAt: at(100), ...claimed }));
    const released = { node: 'a1', result: 'ok', error: null, durationMs: 50, endedAt: at(200.05) };
    const planned = { claimedAt: at(200.1), readyAt: at(200.15) };
    await group.record(
      transition({ term: 3, cause: 'planned', electedAt: at(200), release: released, ...planned }),
    );
    const history = await readHistory(group.store, group.paths, { limit: 10 });
    expect(history.records).toMatchObject([
      { leaderlessMs: 150, leaderlessAtLeast: false },
      { leaderlessMs: 200, leaderlessAtLeast: true },
      { leaderlessMs: null, leaderlessAtLeast: false },
    ]);
    const { rows, pretty } = printableHistory(history, Date.parse(at(300)));
    expect(rows.map((row) => row[8])).toEqual(['gap', '0.150s', '≥0.200s', '-']);
    expect(pretty(unlimited)).toContain('Longest measured time without a leader: at least 0.200s');
    expect(pretty(unlimited)).toContain('≥: the time to notice the loss is not included');
  });

  it('T2 says "at least" where a planned change has no release to go by', async () => {
    await using group = await newGroup();
    const ready = { claimedAt: at(1), readyAt: at(2) };
    await group.record(transition({ term: 1, cause: 'first', electedAt: at(0), ...ready }));
    // The record contains no release. Either the leader crashed during its release, or it left and its
    // registration, which described the release, was deleted. In this example, the leader stopped at 10 s.
    const later = { claimedAt: at(14.1), readyAt: at(14.3) };
    await group.record(transition({ term: 2, cause: 'planned', electedAt: at(10), ...later }));
    await group.record(
      transition({ term: 3, cause: 'shutdown', electedAt: at(20), claimedAt: at(21), readyAt: at(21.2) }),
    );
    const history = await readHistory(group.store, group.paths, { limit: 10 });
    expect(history.records).toMatchObject([
      { leaderlessMs: 200, leaderlessAtLeast: true },
      { leaderlessMs: 200, leaderlessAtLeast: true },
      { leaderlessMs: null, leaderlessAtLeast: false },
    ]);
  });

  it('gives the newest records first, and what cannot be read as a problem', async () => {
    await using group = await newGroup();
    for (const term of [1, 2, 3]) await group.record(transition({ term }));
    await group.record('{"kind":"transition"}');
    const history = await readHistory(group.store, group.paths, { limit: 3 });
    expect(historySchema.parse(JSON.parse(JSON.stringify(history)))).toEqual(history);
    expect(history.records).toMatchObject([{ term: 3 }, { term: 2 }]);
    expect(history.problems).toEqual([
      { path: group.paths.historyRecord('0000000003'), problem: expect.stringContaining('cannot be read') },
    ]);
    expect(await newestRecords(group.store, group.paths, 1)).toHaveLength(1);
  });

  it('says how long no node led, over failed tries too', async () => {
    await using group = await newGroup();
    const phases = { releaseMs: null, claimMs: 1000, takeoverMs: 1000 };
    const records = [
      transition({ term: 1, cause: 'first', electedAt: at(0), claimedAt: at(1), readyAt: at(2) }),
      // The leader began its release at 10 s, and released its claim at 12 s.
      transition({
        term: 2,
        cause: 'planned',
        electedAt: at(9),
        claimedAt: at(12),
        readyAt: at(15),
        phases: { ...phases, releaseMs: 2000 },
      }),
      transition({
        term: 3,
        cause: 'failure',
        electedAt: at(30),
        claimedAt: at(31),
        readyAt: null,
        outcome: 'FAILED',
      }),
      transition({
        term: 4,
        cause: 'failure',
        electedAt: at(40),
        claimedAt: at(41),
        readyAt: at(47),
      }),
      transition({
        term: 5,
        cause: 'failure',
        electedAt: at(60),
        claimedAt: null,
        readyAt: null,
        outcome: 'FAILED',
      }),
    ];
    for (const record of records) await group.record(record);
    const { records: found, gaps } = await readHistory(group.store, group.paths, { limit: 10 });
    const lengths = found.map((record) => (record.kind === 'transition' ? record.leaderlessMs : null));
    expect(lengths).toEqual([null, 17_000, null, 5000, null]);
    expect(gaps).toEqual([
      { from: at(60), to: null, lengthMs: null, atLeast: true },
      { from: at(30), to: at(47), lengthMs: 17_000, atLeast: true },
      { from: at(10), to: at(15), lengthMs: 5000, atLeast: false },
    ]);
  });

  it('shows each of several leaders by itself: its gaps, and with a slot its transitions alone', async () => {
    await using group = await newGroup();
    const failed = { claimedAt: null, readyAt: null, outcome: 'FAILED' } as const;
    for (const record of [
      transition({ slot: 1, electedAt: at(0), readyAt: at(2) }),
      transition({ slot: 2, node: 'b1', electedAt: at(0), readyAt: at(3) }),
      transition({ slot: 2, term: 2, cause: 'failure', electedAt: at(10), ...failed }),
      transition({ slot: 1, term: 2, cause: 'failure', electedAt: at(20), readyAt: at(22) }),
      transition({ slot: 2, term: 3, cause: 'failure', electedAt: at(30), readyAt: at(35) }),
      transition({ slot: 1, term: 3, cause: 'failure', electedAt: at(40), ...failed }),
    ]) {
      await group.record(record);
    }
    await group.record({ kind: 'change', by: 'eve', what: 'paused', reason: null, at: at(41) });
    const slotsOf = (records: History['records']) =>
      records.map((record) => (record.kind === 'change' ? 'change' : record.slot));
    const all = await readHistory(group.store, group.paths, { limit: 10 });
    expect(slotsOf(all.records)).toEqual(['change', 1, 2, 1, 2, 2, 1]);
    expect(all.gaps).toMatchObject([
      { slot: 1, from: at(40), to: null, lengthMs: null },
      { slot: 2, from: at(10), to: at(35), lengthMs: 25_000 },
      { slot: 1, from: at(20), to: at(22), lengthMs: 2000 },
    ]);
    const ofSecond = await readHistory(group.store, group.paths, { limit: 3, slot: 2 });
    expect(slotsOf(ofSecond.records)).toEqual(['change', 2, 2]);
    expect(ofSecond.gaps).toMatchObject([{ slot: 2, from: at(10), to: at(35), lengthMs: 25_000 }]);
  });

  it('misses nobody in a slot that is given up, until it is there again', () => {
    const reason = 'slot 3 is removed, because leaders is now 2';
    const nobody = { slot: 3, node: null, claimedAt: null, readyAt: null, outcome: 'NOBODY' } as const;
    const release = { node: 'a1', result: 'ok', error: null, durationMs: 1000, endedAt: at(101) };
    const newestFirst = [
      transition({ slot: 3, term: 4, cause: 'nobody', electedAt: at(500), readyAt: at(502) }),
      transition({ ...nobody, term: 3, cause: 'planned', electedAt: at(100), reason, release }),
      transition({ slot: 3, term: 2, cause: 'failure', electedAt: at(90), readyAt: null, outcome: 'FAILED' }),
      transition({ slot: 3, cause: 'first', electedAt: at(0), readyAt: at(2) }),
    ];
    expect([...gapsOf(newestFirst).values()]).toMatchObject([
      { slot: 3, from: at(90), to: at(100), lengthMs: 10_000 },
      { slot: 3, from: at(500), to: at(502), lengthMs: 2000 },
    ]);
  });
});
