/** Scores on their way from the nodes to the elector. The server counts the requests that they cost. */

import { describe, expect, it, vi } from 'vitest';
import { ScoreReader } from '../../src/agent/scores/score-reader.js';
import { groupConfigSchema } from '../../src/model/group-config.js';
import { type ScoreReport, scoreReportSchema, scoreReportText } from '../../src/model/scores.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Stat } from '../../src/ports/store.js';
import { Measurements } from '../../src/scores/measurements.js';
import { publishEveryMs } from '../../src/scores/publication.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { builtInRules } from '../../strategies/index.js';
import { Group, type Member } from '../support/agent-group.js';
import { until } from '../support/until.js';

async function publishedScores(group: Group, node: string): Promise<ScoreReport & { readonly stat: Stat }> {
  const { data, stat } = await group.store.getData(group.paths.score(node));
  return { ...scoreReportSchema.parse(JSON.parse(data.toString('utf8'))), stat };
}

/** Waits until the node has published these values. */
async function untilPublished(group: Group, node: string, values: Record<string, number | bigint>) {
  const wanted = JSON.stringify(Object.entries(values).map(([name, value]) => [name, String(value)]));
  return await until(
    async () => {
      const report = await publishedScores(group, node);
      const has = [...report.values].map(([name, value]) => [name, String(value)]);
      return JSON.stringify(has) === wanted ? report : null;
    },
    { timeoutMs: 20_000, describe: `${node} to publish ${wanted}` },
  );
}

async function joined(group: Group, node: string, measurements: Measurements): Promise<Member> {
  const one = group.start(node, { measurements });
  await one.joined();
  return one;
}

/** Starts to count the writes below `scores`, by node. */
function countWrites(server: DevelopmentServer, group: Group): Map<string, number> {
  const writes = new Map<string, number>();
  server.onCommit(({ operations }) => {
    for (const { path } of operations) {
      if (!path.startsWith(`${group.paths.scores}/`)) continue;
      const node = path.slice(group.paths.scores.length + 1);
      writes.set(node, (writes.get(node) ?? 0) + 1);
    }
  });
  return writes;
}

describe.concurrent('a node that measures something', () => {
  it('publishes it at once, for as long as its session lives', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const measurements = new Measurements();
    const a = await joined(group, 'a', measurements);
    expect(await group.store.exists(group.paths.scores)).toBeNull();
    measurements.report('history', 9223372036854775807n);
    const report = await untilPublished(group, 'a', { history: 9223372036854775807n });
    expect(report).toMatchObject({ node: 'a', incarnation: a.agent.incarnation });
    expect(report.stat.ephemeralOwner).toBe(a.store.sessionId);
    await a.stop();
    expect(await group.store.exists(group.paths.score('a'))).toBeNull();
  });

  it('publishes at once that a score is missing, or is there again', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const measurements = new Measurements();
    await joined(group, 'a', measurements);
    measurements.report('load', 1);
    measurements.report('lag', 2);
    await untilPublished(group, 'a', { load: 1, lag: 2 });
    measurements.report('load', null);
    await untilPublished(group, 'a', { lag: 2 });
    measurements.report('lag', null);
    await untilPublished(group, 'a', {});
  });

  it('publishes it again in a new session, whatever an earlier one has left', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const measurements = new Measurements();
    measurements.report('load', 7);
    const stale = {
      node: 'a',
      incarnation: 'earlier',
      values: new Map([['load', 1]]),
      roundTripsMs: new Map(),
    };
    await group.store.create(group.paths.scores, Buffer.alloc(0), 'persistent');
    await group.store.create(group.paths.score('a'), Buffer.from(scoreReportText(stale)), 'ephemeral');
    const a = await joined(group, 'a', measurements);
    const first = await untilPublished(group, 'a', { load: 7 });
    expect(first.stat.ephemeralOwner).toBe(a.store.sessionId);
    await a.expire(server.connectString);
    const owner = await until(async () => {
      const { stat } = await publishedScores(group, 'a');
      return stat.ephemeralOwner === first.stat.ephemeralOwner ? null : stat.ephemeralOwner;
    });
    expect(owner).toBe(a.store.sessionId);
  });

  it('takes up a znode that it made though the reply was lost, and creates a deleted one again', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const measurements = new Measurements();
    const a = await joined(group, 'a', measurements);
    const writes = countWrites(server, group);
    const standing = server.standStill(
      'committed',
      ({ operations }) => operations[0]?.path === group.paths.score('a'),
    );
    measurements.report('load', 1);
    (await standing).breakOff();
    measurements.report('load', 2);
    const report = await untilPublished(group, 'a', { load: 2 });
    expect(report.stat).toMatchObject({ version: 1, ephemeralOwner: a.store.sessionId });
    expect(writes.get('a')).toBe(2);
    await group.store.delete(group.paths.score('a'), 'any');
    measurements.report('load', null);
    measurements.report('lag', 3);
    await untilPublished(group, 'a', { lag: 3 });
  });

  it('goes on where it may not publish it, says so once, and tries again', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const stranger = openStore({
      servers: parseConnectionString(server.connectString),
      sessionTimeoutMs: 6000,
      auth: [{ scheme: 'digest', credentials: 'eve:secret' }],
    });
    try {
      await stranger.connected();
      await stranger.create(group.paths.scores, Buffer.alloc(0), 'persistent');
      const measurements = new Measurements();
      const a = await joined(group, 'a', measurements);
      await group.ready('a');
      measurements.report('load', 1);
      const complaints = () =>
        a.log.filter((line) => line.includes("cannot publish this node's scores to the group"));
      await until(() => complaints().length === 1);
      await until(() => a.log.filter((line) => line.startsWith('scores not published')).length > 0);
      expect(complaints()).toHaveLength(1);
      expect(a.status.leads).toBe(true);
      await stranger.delete(group.paths.scores, 'any');
      await untilPublished(group, 'a', { load: 1 });
    } finally {
      await stranger.close();
    }
  });
});

describe.concurrent('a hundred nodes that score each second', () => {
  const size = 100;
  const forMs = 3 * publishEveryMs;

  /**
   * Runs a group after all nodes have published their first values. Returns the number of writes by each
   * node, and the length of the measured period.
   */
  async function run(next: (before: number) => number) {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const all = Array.from({ length: size }, () => new Measurements());
    const members = all.map((measurements, index) => group.start(`n${index}`, { measurements }));
    await Promise.all(members.map((one) => one.joined()));
    let value = 1000;
    const score = () => {
      value = next(value);
      for (const measurements of all) measurements.report('load', value);
    };
    score();
    await until(async () => (await group.store.getChildren(group.paths.scores)).children.length === size);
    const writes = countWrites(server, group);
    const startedAtMs = performance.now();
    const timer = setInterval(score, 1000);
    await until(() => performance.now() - startedAtMs >= forMs, { timeoutMs: forMs * 4, intervalMs: 200 });
    clearInterval(timer);
    const seconds = (performance.now() - startedAtMs) / 1000;
    const counts = Array.from({ length: size }, (_, index) => writes.get(`n${index}`) ?? 0);
    return { counts, seconds };
  }

  function report(what: string, { counts, seconds }: { counts: readonly number[]; seconds: number }): void {
    const sum = counts.reduce((total, count) => total + count, 0);
    const perNode = (sum / size / seconds).toFixed(3);
    console.log(
      `${size} nodes, ${what}: ${sum} writes in ${seconds.toFixed(1)} s, ${perNode} a node and second`,
    );
  }

  it('write nothing while it moves within its tolerance', async () => {
    let sign = 1;
    const result = await run(() => {
      sign = -sign;
      return 1000 + sign * 20;
    });
    report('scores that jitter by 4 %', result);
    expect(Math.max(...result.counts)).toBe(0);
  });

  it('write once in five seconds at most while it drifts', async () => {
    const result = await run((before) => before * 1.04);
    report('scores that drift by 4 % a second', result);
    expect(Math.max(...result.counts)).toBeLessThanOrEqual(
      Math.ceil((result.seconds * 1000) / publishEveryMs),
    );
    expect(Math.min(...result.counts)).toBeGreaterThan(0);
  });
});

describe('who elects', () => {
  const everyMs = 7_000;
  const byHistory = groupConfigSchema.parse({ strategy: 'history', stabilization: { interval: '7s' } });
  const bySite = groupConfigSchema.parse({});

  it('reads the scores of all where its strategy compares them, a request a node, every so often and when one came or went', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const { store, paths } = group;
    let nowMs = 0;
    const reader = new ScoreReader({
      ...{ paths, rules: builtInRules },
      clock: { ...systemClock, monotonicMs: () => nowMs },
    });
    const reads = () => server.requestCounts().get(store.sessionId)?.requests.getData ?? 0;
    await publish(group, 'a', 'life');
    await publish(group, 'b', 'life');
    await store.create(paths.score('c'), Buffer.from('garbage'), 'ephemeral');
    const nodes = ['a', 'b', 'c', 'd'];
    const before = reads();

    expect(await reader.read(store, bySite, nodes)).toEqual(new Map());
    expect([reads() - before, reader.nextInMs]).toEqual([0, Number.POSITIVE_INFINITY]);
    const names = async (of = nodes) => [...(await reader.read(store, byHistory, of)).keys()];
    expect(await names()).toEqual(['a', 'b']);
    expect([reads() - before, reader.nextInMs]).toEqual([4, 1000]);
    // A node that has just joined will soon publish its scores. The reader reads them each time until they
    // exist, or until the wait has taken too long.
    nowMs += 1000;
    await publish(group, 'd', 'life');
    expect(await names()).toEqual(['a', 'b', 'd']);
    expect(reads() - before).toBe(6);
    for (const _ of [2, 3, 4, 5, 6, 7]) {
      nowMs += 1000;
      await names();
    }
    expect([reads() - before, reader.nextInMs]).toEqual([15, everyMs]);
    nowMs += everyMs - 1;
    // If the configuration is unreadable, the last readable one still applies.
    expect((await reader.read(store, null, nodes)).size).toBe(3);
    expect(reads() - before).toBe(15);
    nowMs += 1;
    await names();
    expect([reads() - before, reader.nextInMs]).toEqual([19, everyMs]);
    expect(await names(['c', 'b'])).toEqual(['b']);
    expect(reads() - before).toBe(21);
  });

  it('goes by the rates of requests that it received by probes, where the node has published anything', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const { store, paths } = group;
    const heard = new Map([['a', 3]]);
    const reader = new ScoreReader({
      ...{ paths, rules: builtInRules, clock: systemClock },
      probe: { heardRates: () => heard },
    });
    await publish(group, 'a', 'life');
    await publish(group, 'b', 'life');
    const rates = async () => {
      const reports = await reader.read(store, byHistory, ['a', 'b', 'c']);
      return [...reports].map(([node, { values }]) => [node, values.get('requests')]);
    };
    const wanted = [
      ['a', 3],
      ['b', undefined],
    ];
    expect(await rates()).toEqual(wanted);
    heard.set('c', 9).set('a', 4);
    expect(await rates()).toEqual([['a', 4], wanted[1]]);
    heard.clear();
    expect(await rates()).toEqual([['a', undefined], wanted[1]]);
  });

  it('elects by them, and standbys read nothing of them', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString, { strategy: 'history', failback: 'manual' });
    const positions = { a: 1n, b: 2n ** 62n, c: 2n ** 62n + 1n, d: 5n };
    const scoresRead = new Map<string, () => number>();
    for (const [node, position] of Object.entries(positions)) {
      const measurements = new Measurements();
      measurements.report('history', position);
      const { store } = await joined(group, node, measurements);
      await until(async () => (await group.store.exists(group.paths.score(node))) !== null);
      const reading = vi.spyOn(store, 'getData');
      const ofScores = ([path]: readonly unknown[]) => String(path).startsWith(group.paths.scores);
      scoresRead.set(node, () => reading.mock.calls.filter(ofScores).length);
    }
    await group.ready('a');
    await group.members[0]?.abandon();
    await group.ready('c');
    expect((await group.elected()).reason).toContain(String(positions.c));
    expect(scoresRead.get('b')?.()).toBeGreaterThan(0);
    expect(scoresRead.get('d')?.()).toBe(0);
  });
});

/** Publishes scores as an agent on this node does. */
async function publish({ store, paths }: Group, node: string, incarnation: string): Promise<void> {
  const report = { node, incarnation, values: new Map([['history', 1]]), roundTripsMs: new Map() };
  if ((await store.exists(paths.scores)) === null)
    await store.create(paths.scores, Buffer.alloc(0), 'persistent');
  await store.create(paths.score(node), Buffer.from(scoreReportText(report)), 'ephemeral');
}
