import { describe, expect, it } from 'vitest';
import { ifStillTrue } from '../../src/agent/conditional-write.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { byHand, Group, type Member } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { overlaps } from '../support/recording-workload.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';

const quick = { backoff: { base: '1s', max: '2s' } };

async function groupOf(config: Partial<GroupConfig> | Record<string, unknown> = {}): Promise<Group> {
  return await Group.found(await sharedZooKeeper(), config);
}

async function settled(group: Group): Promise<number> {
  return await until(async () => {
    const { term, version } = await group.elected();
    const current = await group.current();
    return current?.status === 'READY' && current.term === term ? version : null;
  });
}

function fails(why: string): () => Promise<never> {
  return () => Promise.reject(new Error(why));
}

function hangs(_: unknown, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

function overlapsOf(members: readonly Member[]): string[] {
  return overlaps(Object.fromEntries(members.map(({ node, recorded }) => [node, recorded])));
}

/**
 * Adds a node `ghost` while `a` leads. The ghost is elected, makes a claim, and never acts again. The
 * returned group owns the session of the ghost.
 */
async function haunted(group: Group): Promise<Group> {
  const ghost = await Group.found(group.connectString, {}, group.root);
  const { data } = await group.store.getData(group.paths.node('a'));
  const content = { ...JSON.parse(data.toString('utf8')), node: 'ghost', incarnation: 'dead' };
  await ghost.store.create(group.paths.node('ghost'), Buffer.from(JSON.stringify(content)), 'ephemeral');
  await ghost.store.create(group.paths.seatPrefix('ghost'), Buffer.from('ghost'), 'ephemeral-sequential');
  await group.switchover('ghost');
  await until(async () => (await group.current()) === null);
  const { term, version } = await group.elected();
  const claim = { node: 'ghost', site: 'here', incarnation: 'dead', status: 'PROGRESS', term };
  const bytes = Buffer.from(JSON.stringify({ ...claim, electedVersion: version }));
  await ghost.store.create(group.paths.current, bytes, 'ephemeral');
  return ghost;
}

describe('a candidate', () => {
  it('P29 that vanishes in PROGRESS is replaced at once, not when its time is over', async () => {
    await using group = await groupOf({ ...quick, timeouts: { takeover: '10m' } });
    await group.startInOrder(['elector']);
    await group.ready('elector');
    const b = group.start('b');
    await b.joined();
    b.recorded.does('takeover', hangs);
    await group.switchover('b');
    await until(() => b.recorded.of('takeover').length === 1);
    const sinceGone = startStopwatch();
    await b.expire(group.connectString);
    await group.ready('elector');
    expect(sinceGone.ms).toBeLessThan(5000);
  });

  // The candidate registers again as soon as it notices that its registration is gone. If it has done so
  // before the elector reads the group, it was never gone for the elector. So the test deletes the
  // registration repeatedly.
  it('P29 whose registration alone is seen to be gone is replaced at once, too, and stops', async () => {
    await using group = await groupOf({ ...quick, timeouts: { takeover: '10m' } });
    await group.startInOrder(['elector']);
    await group.ready('elector');
    const b = group.start('b');
    await b.joined();
    b.recorded.does('takeover', hangs);
    await group.switchover('b');
    await until(() => b.recorded.of('takeover').length === 1);
    await until(async () => {
      const current = await group.current();
      if (current?.node !== 'b') return current?.node === 'elector';
      await ifStillTrue(() => group.store.delete(group.paths.node('b'), 'any'));
      return false;
    });
    await group.ready('elector');
    expect(overlapsOf(group.members)).toEqual([]);
    await until(async () => (await group.store.exists(group.paths.node('b'))) !== null);
  });

  it('P36 that fails after the old leader released leaves leadership to the old leader', async () => {
    await using group = await groupOf(quick);
    const [a, b] = await group.startInOrder(['a', 'b']);
    await group.ready('a');
    b?.recorded.does('takeover', fails('no disk'));
    await group.switchover('b');
    await until(() => b?.recorded.of('takeover').length === 1);
    await group.ready('a');
    expect((await group.elected()).failures).toMatchObject([{ node: 'b', reason: /no disk/ }]);
    expect(a?.recorded.of('takeover').length).toBe(2);
    await until(async () => {
      const failed = (await group.history()).find((one) => one.kind === 'transition' && one.node === 'b');
      return failed?.kind === 'transition' && failed.outcome === 'FAILED';
    });
  });

  it('P36 that is not eligible is not waited for: the leader stays', async () => {
    await using group = await groupOf();
    const [, b] = await group.startInOrder(['a', 'b']);
    await group.ready('a');
    b?.agent.setHealth(false, 'no disk');
    await until(async () => {
      const { data } = await group.store.getData(group.paths.node('b'));
      return data.toString('utf8').includes('no disk');
    });
    const before = await settled(group);
    await group.switchover('b');
    // A later decision shows that the elector has considered the earlier request.
    await group.startInOrder(['c']);
    expect(await settled(group)).toBe(before);
  });

  it.each([
    ['fails', fails('no disk'), 'failed'],
    ['hangs', hangs, 'timed-out'],
  ])('P43 releases when its takeover had begun, also one that %s', async (_, takeover, result) => {
    await using group = await groupOf({ ...quick, timeouts: { takeover: '300ms' } });
    const [, b] = await group.startInOrder(['a', 'b']);
    await group.ready('a');
    b?.recorded.does('takeover', takeover);
    await group.switchover('b');
    await until(() => b?.recorded.of('release').length === 1);
    expect(b?.recorded.runs.map(({ context, result: ended }) => [context.phase, ended]).slice(0, 2)).toEqual([
      ['takeover', result],
      ['release', 'ok'],
    ]);
    await group.ready('a');
    expect(overlapsOf(group.members)).toEqual([]);
  });

  it('P21 that is registered for ever and never acts is in backoff in its time, and the next leads', async () => {
    await using group = await groupOf({ ...quick, timeouts: { claim: '500ms', prepare: '100ms' } });
    const [a] = await group.startInOrder(['a']);
    await group.ready('a');
    const { data } = await group.store.getData(group.paths.node('a'));
    const ghost = { ...JSON.parse(data.toString('utf8')), node: 'ghost', incarnation: 'dead', priority: 900 };
    await group.store.create(group.paths.node('ghost'), Buffer.from(JSON.stringify(ghost)), 'persistent');
    await group.switchover('ghost');
    await until(async () => (await group.elected()).node === 'ghost');
    await until(async () => (await group.elected()).failures.some(({ node }) => node === 'ghost'));
    await group.ready('a');
    expect(a?.recorded.of('takeover').length).toBe(2);
  });

  it('P21 that claimed and never acts again is in backoff, fenced, and its claim removed', async () => {
    const timeouts = { takeover: '300ms', release: '300ms', grace: '100ms' };
    await using group = await groupOf({ ...quick, timeouts });
    const [a] = await group.startInOrder(['a']);
    await group.ready('a');
    const fenced: (string | undefined)[] = [];
    a?.recorded.does('fence', ({ target }) => {
      fenced.push(target);
    });
    await using _ghost = await haunted(group);
    await group.ready('a');
    expect(fenced).toContain('ghost');
    expect((await group.seats()).some((name) => name.startsWith('ghost-'))).toBe(false);
  });

  it('is fenced again, where that failed, only by what was read after one more write', async () => {
    const timeouts = { takeover: '300ms', release: '300ms', grace: '100ms', fence: '300ms' };
    await using group = await groupOf({ timeouts });
    const [a] = await group.startInOrder(['a']);
    await group.ready('a');
    const writesBefore: number[] = [];
    a?.recorded.does('fence', async () => {
      writesBefore.push((await group.store.getData(group.paths.clock)).stat.version);
      if (writesBefore.length === 1) throw new Error('the switch does not answer');
    });
    await using _ghost = await haunted(group);
    await group.ready('a');
    const [first = 0, second = 0] = writesBefore;
    expect(second).toBeGreaterThan(first);
  });
});

it('P24 nodes that join while the sequence counter wraps keep their order, and one elector', async () => {
  await using server = await startDevelopmentServer();
  await using group = await Group.found(server.connectString);
  server.setNextSequence(group.paths.election, 2_147_483_646);
  const electors: string[] = [];
  for (const node of ['a', 'b', 'c', 'd', 'e']) {
    const member = group.start(node);
    member.agent.onStatus(({ elector }) => {
      if (elector && electors.at(-1) !== node) electors.push(node);
    });
    await member.joined();
  }
  const seats = await group.seats();
  expect(seats.map((name) => name.slice(2)).sort()).toEqual(
    ['2147483646', '2147483647', '-2147483648', '-2147483647', '-2147483646'].sort(),
  );
  await group.ready('a');
  expect(electors).toEqual(['a']);
  const [a, b, c] = group.members;
  await a?.stop();
  await group.ready('b');
  await b?.stop();
  await group.ready('c');
  await until(() => c?.status.elector);
  await group.startInOrder(['f']);
  expect(electors).toEqual(['a', 'b', 'c']);
  expect(c?.status).toMatchObject({ leads: true, elector: true });
});

it('P24 an elector that cannot give its seat up, because the counter sticks, elects by default', async () => {
  await using server = await startDevelopmentServer({ sequenceOverflow: 'sticks' });
  await using group = await Group.found(server.connectString);
  server.setNextSequence(group.paths.election, 2_147_483_647);
  const [a] = await group.startInOrder(['a', 'b']);
  await group.ready('a');
  await group.store.set(group.paths.config, Buffer.from(JSON.stringify({ strategy: 'none' })), 'any');
  await until(() => a?.log.some((line) => line.includes('using first-available')));
  // The elector handed over its role once, and not repeatedly.
  expect(a?.log.filter((line) => line.startsWith('cannot run elections'))).toHaveLength(1);
});

describe('failback', () => {
  const sites = { better: { priority: 200 }, worse: { priority: 100 } };

  async function leaderOfTheWorseSite(group: Group): Promise<{ best: Member; worse: Member }> {
    const best = group.start('best', { site: 'better' });
    await best.joined();
    best.agent.setHealth(false, 'an outage');
    const worse = group.start('worse', { site: 'worse' });
    await group.ready('worse');
    return { best, worse };
  }

  it('P48 manual: nothing moves when the better node is back, and the elector says that it is', async () => {
    await using group = await groupOf({ sites, failback: 'manual' });
    const { best } = await leaderOfTheWorseSite(group);
    const before = await settled(group);
    best.agent.setHealth(true, null);
    await until(() => best.log.some((line) => /best would be better.*failback is manual/.test(line)));
    await group.startInOrder(['third'], { site: 'worse' });
    expect(await settled(group)).toBe(before);
    await group.switchover('best');
    await group.ready('best');
  });

  it('P48 auto: a better node that comes and goes moves nothing; one that stays moves it once', async () => {
    await using group = await groupOf({ sites, failback: 'auto', failbackHold: '5s' });
    const { best, worse } = await leaderOfTheWorseSite(group);
    const before = await settled(group);
    const seen = (ok: boolean) => {
      return until(async () => {
        const { data } = await group.store.getData(group.paths.node('best'));
        return JSON.parse(data.toString('utf8')).health.ok === ok;
      });
    };
    const startedAtMs = performance.now();
    for (let flap = 0; performance.now() - startedAtMs < 7000; flap++) {
      best.agent.setHealth(flap % 2 === 0, 'flapping');
      await seen(flap % 2 === 0);
    }
    expect(worse.status.leads).toBe(true);
    expect(await settled(group)).toBe(before);
    best.agent.setHealth(true, null);
    await group.ready('best');
    expect((await group.elected()).cause).toBe('preference');
    expect(await settled(group)).toBe(before + 1);
  });

  it('P49 waits only before it leaves a live leader: never at a start, nor after a failure', async () => {
    const config = { sites, failback: 'auto', failbackHold: '1h', minLeadership: '1h' };
    await using group = await groupOf(config);
    const [a] = await group.startInOrder(['a'], { site: 'better' });
    await group.ready('a');
    await group.startInOrder(['b'], { site: 'worse' });
    await a?.abandon();
    await group.ready('b');
    await group.startInOrder(['c'], { site: 'better' });
    const before = await settled(group);
    await group.configure({ historySize: 7 });
    await group.startInOrder(['d'], { site: 'better' });
    expect(await settled(group)).toBe(before);
  });
});

describe('a rule that a person made', () => {
  const sites = { a: { priority: 100 }, b: { priority: 50 }, c: { priority: 10 } };

  it('P51 holds on every path: election, switchover, and after a failure', async () => {
    await using group = await groupOf({ sites });
    for (const site of ['a', 'b', 'c']) await group.startInOrder([`${site}1`], { site });
    await group.ready('a1');
    const drained = { priority: 50, drained: byHand('moving house') };
    await group.configure({ sites: { ...sites, b: drained } });
    await group.switchover('b1');
    await group.startInOrder(['c2'], { site: 'c' });
    expect((await group.elected()).node).toBe('a1');
    await group.members.find(({ node }) => node === 'a1')?.abandon();
    await group.ready('c1');
    const takeovers = group.members.find(({ node }) => node === 'b1')?.recorded.of('takeover');
    expect(takeovers).toEqual([]);
  });

  it('P53 an override ends by itself, though the elector changes meanwhile, and the history records it', async () => {
    await using group = await groupOf({ sites, failbackHold: '1ms' });
    const [first, second] = await group.startInOrder(['b1', 'b2'], { site: 'b' });
    await group.startInOrder(['a1'], { site: 'a' });
    await group.ready('a1');
    const { mtimeMs } = await group.store.set(group.paths.clock, Buffer.alloc(0), 'any');
    const untilMs = mtimeMs + 10_000;
    const override = { priority: 200, until: new Date(untilMs).toISOString(), ...byHand('maintenance of a') };
    await group.configure({ sites: { ...sites, c: { priority: 10, override } } });
    await group.startInOrder(['c1'], { site: 'c' });
    await group.ready('c1');
    await first?.abandon();
    await second?.abandon();
    await group.ready('a1');
    const { c } = await until(async () => {
      const after = (await group.config()).sites;
      return after.c?.override === null && after;
    });
    expect(c).toMatchObject({ priority: 10, override: null });
    const change = (await group.history()).find((record) => record.kind === 'change');
    expect(change?.kind === 'change' && change.what).toContain('c');
    expect(change?.kind === 'change' && Date.parse(change.at)).toBeGreaterThanOrEqual(untilMs);
  });

  it('P55 a pause outlasts electors, a leader’s restart and changes of the configuration', async () => {
    await using group = await groupOf({ sites });
    const [elector] = await group.startInOrder(['c1'], { site: 'c' });
    await group.startInOrder(['a1'], { site: 'a' });
    await group.startInOrder(['b1'], { site: 'b' });
    await group.ready('a1');
    await group.configure({ paused: byHand('do not touch') });
    const { term } = await group.elected();
    await elector?.abandon();
    await group.configure({ sites: { ...sites, b: { priority: 900 } } });
    await group.startInOrder(['b2'], { site: 'b' });
    const a1 = group.members.find(({ node }) => node === 'a1');
    const token = (await group.current())?.stat.czxid ?? 0n;
    await a1?.expire(group.connectString);
    await until(async () => ((await group.current())?.stat.czxid ?? 0n) > token);
    await group.ready('a1');
    await a1?.abandon();
    await until(async () => (await group.current()) === null);
    await group.startInOrder(['b3'], { site: 'b' });
    expect(await group.elected()).toMatchObject({ node: 'a1', term });
    expect(await group.current()).toBeNull();
    await group.configure({ paused: null });
    await until(async () => (await group.current())?.status === 'READY');
    expect((await group.current())?.site).toBe('b');
  });

  it('P56 a lower priority for the leader’s site hands leadership over, gracefully and soon', async () => {
    await using group = await groupOf({ sites, failback: 'manual' });
    await group.startInOrder(['a1'], { site: 'a' });
    await group.startInOrder(['b1'], { site: 'b' });
    await group.ready('a1');
    const a1 = group.members[0];
    const sinceChange = startStopwatch();
    await group.configure({ sites: { ...sites, a: { priority: 1 } } });
    await until(() => a1?.recorded.of('release').length === 1);
    expect(sinceChange.ms).toBeLessThan(8000);
    await group.ready('b1');
    expect(overlapsOf(group.members)).toEqual([]);
    expect((await group.elected()).cause).toBe('planned');
  });

  it('P56 bad health of the leader hands leadership over, too', async () => {
    await using group = await groupOf({ sites });
    await group.startInOrder(['a1'], { site: 'a' });
    await group.startInOrder(['b1'], { site: 'b' });
    await group.ready('a1');
    group.members[0]?.agent.setHealth(false, 'three checks failed');
    await group.ready('b1');
    expect((await group.elected()).reason).toContain('three checks failed');
    expect(overlapsOf(group.members)).toEqual([]);
  });
});
