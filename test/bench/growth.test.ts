import { describe, expect, it } from 'vitest';
import type { Measure } from '../../bench/growth/burden.js';
import { lawAt, lawOf, offShare, sizeWhere } from '../../bench/growth/law.js';
import { mostFrameBytes, mostSeatsInFrame, seatListBytes } from '../../bench/growth/limits.js';
import { measureManyGroups } from '../../bench/growth/many-groups.js';
import { measureOneGroup, type OneGroup } from '../../bench/growth/one-group.js';
import { growthReport } from '../../bench/growth/report.js';
import { nodes, seriesTable } from '../../bench/growth/series.js';
import { JuteWriter } from '../../src/embedded/jute.js';
import { writeReplyHeader, writeStat, writeStrings } from '../../src/embedded/records.js';
import { ZnodeTree } from '../../src/embedded/tree.js';

/** Timeout in milliseconds, long enough for a busy machine. */
const longMs = 300_000;

describe('a law', () => {
  const pointsOf = (value: (size: number) => number) =>
    [10, 30, 100, 300].map((size) => ({ size, value: value(size) }));

  it.each([
    ['nothing', () => 0, [0, 0, 0]],
    ['what does not grow', () => 5, [5, 0, 0]],
    ['a line', (size: number) => 12 + 2 * size, [12, 2, 0]],
    ['a square', (size: number) => 3 * size + 0.5 * size * size, [0, 3, 0.5]],
  ] as const)('is found of %s', (_, value, expected) => {
    const law = lawOf(pointsOf(value));
    for (const [power, term] of expected.entries()) expect(law[power]).toBeCloseTo(term, 6);
    expect(offShare(law, pointsOf(value))).toBeLessThan(1e-6);
  });

  it('has no more terms than it takes', () => {
    const jittered = pointsOf((size) => 7 * size * (size === 30 ? 1.03 : 1));
    expect(lawOf(jittered).filter((term) => term > 0)).toHaveLength(1);
  });

  it('is straight where that is near enough', () => {
    const almost = pointsOf((size) => 2 * size + 0.002 * size * size);
    expect(lawOf(almost)[2]).toBeGreaterThan(0);
    expect(lawOf(almost, 0.25)[2]).toBe(0);
  });

  it('says from where on it is above something', () => {
    expect(sizeWhere([10, 2, 0], 110)).toBe(50);
    expect(lawAt([1, 2, 3], sizeWhere([1, 2, 3], 1_000))).toBeCloseTo(1_000, 6);
    expect(sizeWhere([5, 0, 0], 6)).toBe(Number.POSITIVE_INFINITY);
    expect(sizeWhere([5, 0, 0], 4)).toBe(0);
  });

  it('refuses to be one of nothing', () => {
    expect(() => lawOf([])).toThrow(RangeError);
  });

  it('is shown in a table with its predictions', () => {
    const text = seriesTable([{ name: 'reads', unit: 'count', points: pointsOf((size) => 2 * size) }], nodes);
    expect(text.split('\n').at(-1)).toBe('| reads | 20 | 60 | 200 | 600 | 2 N | 0.0 % | 0.0 % | 20,000 |');
  });
});

describe('the limits of a frame', () => {
  it('are those of what a server answers', () => {
    const tree = new ZnodeTree();
    const stat = tree.stat('/');
    if (stat === undefined) throw new Error('a tree has a root');
    const names = Array.from({ length: 40 }, (_, index) => `node-1-${String(index).padStart(10, '0')}`);
    const reply = writeStat(writeStrings(writeReplyHeader(new JuteWriter(), 1, 1n, 0), names), stat);
    const lengthBytes = 4;
    expect(reply.packet().length - lengthBytes).toBe(seatListBytes(names.length, 'node-1'.length));
    const most = mostSeatsInFrame(6);
    expect(seatListBytes(most, 6)).toBeLessThanOrEqual(mostFrameBytes);
    expect(seatListBytes(most + 1, 6)).toBeGreaterThan(mostFrameBytes);
  });
});

describe('what an ensemble supports', () => {
  const sizes = [12, 24, 48];
  const ofOne = (runs: readonly OneGroup[], event: keyof OneGroup['events'], measure: Measure) =>
    runs.map(({ nodes: size, events }) => ({ size, value: events[event].burden[measure] }));

  it(
    'of one group, grows as its laws say',
    async () => {
      const runs: OneGroup[] = [];
      for (const size of sizes) runs.push(await measureOneGroup(size));
      // The number of writes does not depend on the size of the group.
      for (const event of ['joinOne', 'handover', 'leaderDies', 'electorDies'] as const) {
        const commits = ofOne(runs, event, 'commits').map(({ value }) => value);
        expect({ event, commits }).toEqual({ event, commits: commits.map(() => commits[0]) });
        expect(commits[0]).toBeGreaterThan(0);
      }
      // If another node becomes the leader, reads and notifications grow by at most a quarter of the
      // additional nodes. In the smallest group, parts such as successor and next elector may fall to one
      // node.
      for (const event of ['handover', 'leaderDies'] as const)
        for (const measure of ['reads', 'notifications'] as const) {
          const [, some = 0, most = 0] = ofOne(runs, event, measure).map(({ value }) => value);
          expect({ event, measure, grows: most - some > 6 }).toEqual({ event, measure, grows: false });
        }
      for (const { events } of runs) expect(events.electorDies.burden.notifications).toBeLessThanOrEqual(12);
      for (const event of ['joinAll', 'handover', 'leaderDies', 'electorDies', 'restart'] as const) {
        const [, , square] = lawOf(ofOne(runs, event, 'reads'), 0.25);
        expect({ event, square }).toEqual({ event, square: 0 });
      }
      const [renewals] = lawOf(runs.map(({ nodes: size, idle }) => ({ size, value: idle.renewals })));
      expect(renewals).toBeCloseTo(2, 1);
      for (const { nodes: size, standing } of runs) {
        // The client that created the group has a session too, hence the additional one.
        expect(standing.sessions).toBe(size + 1);
        expect(standing.watches).toBeLessThanOrEqual(6 * size + 10);
      }
      const text = growthReport({
        one: runs,
        many: { own: [], shared: [] },
        capacity: null,
        command: 'npm run growth',
        at: '2026-01-01',
        machine: 'a machine',
      });
      expect(text).toContain('One group');
      expect(text).not.toMatch(/NaN|undefined|Infinity/);
    },
    longMs,
  );

  it.each([
    ['own', 6],
    ['shared', 9],
  ] as const)(
    'of many groups, grows in proportion: sessions %s',
    async (sessions, size) => {
      const few = await measureManyGroups(size, sessions);
      const twice = await measureManyGroups(2 * size, sessions);
      // Quadratic growth would increase the reads by a factor of four. The limit lies between that and linear
      // growth.
      expect(twice.events.thirdDies.burden.reads / few.events.thirdDies.burden.reads).toBeLessThan(3);
      expect(twice.idle.reads / few.idle.reads).toBeLessThan(3);
      expect(twice.idle.commits).toBe(0);
      // Each session timeout of 6 s contains 12 renewals, so there are 2 per second. With own sessions, each
      // leader renews its lease. With shared sessions, each agent renews once for all its groups.
      expect(twice.idle.renewals).toBeCloseTo(sessions === 'own' ? 2 * size * 2 : 3 * 2, 0);
      expect(twice.standing.sessions).toBe(sessions === 'own' ? 2 * size * 3 : 3);
    },
    longMs,
  );
});
