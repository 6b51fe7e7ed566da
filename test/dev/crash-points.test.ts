/**
 * Rehearses the crash points of docs/reports/tables/crash-points.md with real agents and guardians, which are
 * killed exactly at these points. Compares the results with the tables. By default rehearses only the
 * crash points that the tables mark for every run. PETREL_TEST_CRASH_POINTS=all rehearses all of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/dev/rehearsal.js';
import { type CrashStage, CrashStages } from '../support/crash-stage.js';
import { crashTable, type Row } from '../support/crash-table.js';
import { oncePerRun } from '../support/once-per-run.js';
import { until } from '../support/until.js';

const all = process.env.PETREL_TEST_CRASH_POINTS === 'all';
const isFirst = ({ point }: Row) => point.transition === 'first';
/**
 * Crash points of first elections come first. Each needs a new group, which other transitions can use later.
 */
const rows = crashTable()
  .filter(({ inEveryRun }) => all || inEveryRun)
  .toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));

const stages = new CrashStages(3);
afterAll(() => stages[Symbol.asyncDispose]());

describe('a crash point', () => {
  // The build is not part of a test, because on a busy machine it takes longer than a test may.
  beforeAll(() => oncePerRun('build'));

  it.concurrent.each(rows.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    const stage = await stages.take({ isNew: isFirst(row) });
    let isInOrder = false;
    try {
      await compare(stage, row, await stage.rehearse(row.point));
      isInOrder = true;
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
  const { leader, cast, token } = outcome;
  const { candidate, leader: oldLeader } = cast;
  const leadsThen =
    leader === candidate ? 'the candidate' : leader === oldLeader ? 'the old leader' : 'another';
  expect({ leadsThen, leader }).toEqual({ leadsThen: row.leadsThen, leader });
  expect(leader).not.toBe(cast.elector);
  checkOrder(stage, row, outcome);
  const records = await stage.transitions();
  const led = { term: outcome.term, fencingToken: String(token), outcome: 'READY' };
  expect(records).toContainEqual(expect.objectContaining(led));
  const leaderships = records.map(({ term, fencingToken }) => `${term} ${fencingToken}`);
  expect(leaderships).toEqual([...new Set(leaderships)]);
  const tokens = records.flatMap(({ fencingToken }) => (fencingToken === null ? [] : [BigInt(fencingToken)]));
  expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
  await until(async () => {
    const living = await stage.log.living();
    expect(living.map(({ node }) => node)).toEqual([leader]);
    return true;
  });
  await stage.log.assertExclusive();
}

/** Checks that the effects of the kill occurred in the order that the row describes. */
function checkOrder(stage: CrashStage, { point, waitsForExpiry, releases }: Row, outcome: Outcome): void {
  const [role = '', part = 'agent'] = point.victim.split('-');
  if (role === 'zookeeper') return;
  const { cast, leader } = outcome;
  const victim = role === 'leader' ? cast.leader : role === 'candidate' ? cast.candidate : cast.elector;
  const said = (text: string) => stage.saidSinceKill(text);
  const ready = said(`${leader} is READY`);
  const expires = Math.max(
    said(`the session of ${victim} expires`),
    said(`the session of ${victim} expires, which removes its claim`),
  );
  if (part === 'both') expect(expires).toBeGreaterThan(-1);
  else expect(stage.said.filter(({ text }) => / expires\b/.test(text))).toEqual([]);
  // The old leader may have led until after the expiry. If so, no node waited for the expiry.
  const isLed = said(`${cast.leader}: release hook started`) > expires;
  if (part === 'both') expect({ waits: expires < ready && !isLed }).toEqual({ waits: waitsForExpiry });
  if (!releases) return;
  const released = said(`${victim}: release hook ended`);
  expect(released).toBeGreaterThan(-1);
  const claimEnds =
    part === 'agent'
      ? `the session of ${victim} is closed, which removes its claim`
      : `${victim} gives up its claim`;
  expect(said(claimEnds)).toBeGreaterThan(released);
}
