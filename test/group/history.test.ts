import { describe, expect, it } from 'vitest';
import { gapsOf, historySchema, newestRecords, readHistory } from '../../src/group/history.js';
import { newGroup, transition } from '../support/group.js';

const minute = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

describe('the history', () => {
  it('counts for a leader that came back from when it had stopped, or not at all where nobody tells', () => {
    const again = { term: 1, cause: 'retry', electedAt: minute(0) } as const;
    const told = { token: '7', reason: 'the lease was not renewed', endedAt: minute(300) };
    const untold = { token: '8', reason: null, endedAt: null };
    const newestFirst = [
      transition({ ...again, claimedAt: minute(600), readyAt: minute(601), resumes: untold }),
      transition({ ...again, claimedAt: minute(302), readyAt: minute(303), resumes: told }),
      transition({ ...again, cause: 'first', claimedAt: minute(1), readyAt: minute(2) }),
    ];
    expect(newestFirst.map((record) => gapsOf(newestFirst).get(record))).toEqual([
      undefined,
      { from: minute(300), to: minute(303), lengthMs: 3000 },
      undefined,
    ]);
  });

  it('gives the newest records first, and what cannot be read as a problem', async () => {
    await using group = await newGroup();
    for (const term of [1, 2, 3]) await group.record(transition({ term }));
    await group.record('{"kind":"transition"}');
    const history = await readHistory(group.store, group.paths, 3);
    expect(historySchema.parse(JSON.parse(JSON.stringify(history)))).toEqual(history);
    expect(history.records).toMatchObject([{ term: 3 }, { term: 2 }]);
    expect(history.problems).toEqual([
      { path: group.paths.historyRecord('0000000003'), problem: expect.stringContaining('cannot be read') },
    ]);
    expect(await newestRecords(group.store, group.paths, 1)).toHaveLength(1);
  });

  it('tells how long nobody led, over failed tries too', async () => {
    await using group = await newGroup();
    const phases = { releaseMs: null, claimMs: 1000, takeoverMs: 1000 };
    const records = [
      transition({ term: 1, cause: 'first', electedAt: minute(0), claimedAt: minute(1), readyAt: minute(2) }),
      // The leader began its release at 10 s, and let go at 12 s.
      transition({
        term: 2,
        cause: 'planned',
        electedAt: minute(9),
        claimedAt: minute(12),
        readyAt: minute(15),
        phases: { ...phases, releaseMs: 2000 },
      }),
      transition({
        term: 3,
        cause: 'failure',
        electedAt: minute(30),
        claimedAt: minute(31),
        readyAt: null,
        outcome: 'FAILED',
      }),
      transition({
        term: 4,
        cause: 'failure',
        electedAt: minute(40),
        claimedAt: minute(41),
        readyAt: minute(47),
      }),
      transition({
        term: 5,
        cause: 'failure',
        electedAt: minute(60),
        claimedAt: null,
        readyAt: null,
        outcome: 'FAILED',
      }),
    ];
    for (const record of records) await group.record(record);
    const { records: told, gaps } = await readHistory(group.store, group.paths, 10);
    const lengths = told.map((record) => (record.kind === 'transition' ? record.leaderlessMs : null));
    expect(lengths).toEqual([null, 17_000, null, 5000, null]);
    expect(gaps).toEqual([
      { from: minute(60), to: null, lengthMs: null },
      { from: minute(30), to: minute(47), lengthMs: 17_000 },
      { from: minute(10), to: minute(15), lengthMs: 5000 },
    ]);
  });
});
