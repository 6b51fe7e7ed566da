/**
 * Plays the crash points of docs/crash-points.md and compares: real agents and keepers, killed exactly there. Those that
 * every run plays, or, with PETREL_TEST_CRASH_POINTS=all, all of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/dev/rehearsal.js';
import { type CrashStage, CrashStages, sessionTimeoutMs } from '../support/crash-stage.js';
import { crashTable, type Row } from '../support/crash-table.js';
import { zooKeeperKind } from '../support/ensemble.js';
import { oncePerRun } from '../support/once-per-run.js';
import { until } from '../support/until.js';

const all = process.env.PETREL_TEST_CRASH_POINTS === 'all';
const isFirst = ({ point }: Row) => point.transition === 'first';
/** A new group serves a first election, and others after it: so those come first. */
const rows = crashTable()
  .filter(({ inEveryRun }) => all || inEveryRun)
  .toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));

const stages = new CrashStages(3);
afterAll(() => stages[Symbol.asyncDispose]());

const notHere = zooKeeperKind === 'embedded' ? '' : ' (only where the tests run on the embedded ZooKeeper)';

describe.skipIf(notHere !== '')(`a crash point${notHere}`, () => {
  // A build on a busy machine takes longer than a test may.
  beforeAll(() => oncePerRun('build'), 300_000);

  it.concurrent.each(rows.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    const stage = await stages.take({ isNew: isFirst(row) });
    let isInOrder = false;
    try {
      await compare(stage, row, await stage.play(row.point));
      isInOrder = !row.twoMayBeActive;
    } catch (error) {
      const lines = stage.said.map(({ text, atMs }) => `${atMs === null ? '' : Math.round(atMs)}\t${text}`);
      process.stdout.write(`\n--- ${row.name}\n${lines.join('\n')}\n---\n`);
      throw error;
    } finally {
      await stages.giveBack(stage, isInOrder);
    }
  });
});

async function compare(stage: CrashStage, row: Row, outcome: Outcome): Promise<void> {
  const { leader, cast, leaderlessMs, token } = outcome;
  const leadsThen = leader === cast.heir ? 'the heir' : 'another';
  if (row.leadsThen !== 'either') expect({ leadsThen, leader }).toEqual({ leadsThen: row.leadsThen, leader });
  expect([cast.leader, cast.elector]).not.toContain(leader);
  // Besides the sessions that have to end: what hooks, writes, notifications and a busy machine take.
  expect(leaderlessMs).toBeLessThan((row.sessionTimeouts + 1) * sessionTimeoutMs);
  expect(leaderlessMs).toBeGreaterThan((row.sessionTimeouts / 2) * sessionTimeoutMs);
  const records = await stage.transitions();
  expect(records.at(-1)).toMatchObject({ term: outcome.term, fencingToken: String(token), outcome: 'READY' });
  const tenures = records.map(({ term, fencingToken }) => `${term} ${fencingToken}`);
  expect(tenures).toEqual([...new Set(tenures)]);
  const tokens = records.flatMap(({ fencingToken }) => (fencingToken === null ? [] : [BigInt(fencingToken)]));
  expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
  if (row.keeperReleases) {
    const killed = row.point.victim === 'leader' ? cast.leader : cast.heir;
    // No lease that was good at the kill is due for release sooner.
    expect(stage.afterKillMs(`${killed}: release hook ended`)).toBeLessThan(sessionTimeoutMs / 4);
  }
  if (row.twoMayBeActive) return;
  await until(async () => {
    const works = { node: leader, token: String(token) };
    expect(await stage.log.living()).toMatchObject([works]);
    return true;
  });
  await stage.log.assertExclusive();
}
