import { describe, expect, it } from 'vitest';
import { explain, tieText } from '../../src/group/explain.js';
import { type Listing, listing, listingSchema } from '../../src/group/listing.js';
import { readEnsembleClock } from '../../src/group/time.js';
import { transitionText } from '../../src/group/transition.js';
import { readGroup } from '../../src/group/view.js';
import { groupPaths } from '../../src/model/paths.js';
import { systemClock } from '../../src/ports/clock.js';
import { newGroup, type TestGroup } from '../support/group.js';

async function listOf(group: TestGroup, laterMs = 0): Promise<Listing> {
  const view = await readGroup(group.access, { scores: true });
  const { epochMs } = await readEnsembleClock(group.store, group.paths, systemClock);
  const list = listing(view, epochMs + laterMs);
  expect(listingSchema.parse(JSON.parse(JSON.stringify(list)))).toEqual(list);
  return list;
}

function nodeOf(list: Listing, id: string): Listing['nodes'][number] {
  const found = list.nodes.find(({ node }) => node === id);
  if (found === undefined) throw new Error(`${id} is not listed`);
  return found;
}

describe('the listing', () => {
  it('shows the published successor only while the group has a single slot', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.lead('a1', 3);
    const published = { prepared: null, nobody: true, reason: 'no other node is registered' };
    await group.store.create(group.paths.successor, Buffer.from(JSON.stringify(published)), 'persistent');
    const shown = { node: null, nobody: true, reason: published.reason };
    expect((await listOf(group)).successor).toEqual(shown);
    await group.elect({}, 2);
    await group.elect({ node: 'a1', site: 'a', term: 3, slots: 2 });
    expect((await listOf(group)).successor).toBeNull();
  });

  it('has the shape that scripts rely on', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.lead('a1', 3);
    const current = await group.store.getData(group.paths.current);
    expect(await listOf(group)).toEqual({
      root: group.root,
      strategy: 'site-priority',
      paused: null,
      elector: 'a1',
      elected: { node: 'a1', term: 3, reason: 'it is the best' },
      leader: {
        node: 'a1',
        site: 'a',
        status: 'READY',
        term: 3,
        fencingToken: String(current.stat.czxid),
        since: new Date(current.stat.mtimeMs).toISOString(),
      },
      transition: null,
      successor: null,
      leaders: [
        {
          slot: 1,
          elected: { node: 'a1', term: 3, reason: 'it is the best' },
          leader: expect.objectContaining({ node: 'a1', status: 'READY', term: 3 }),
          transition: null,
          preferred: null,
        },
      ],
      switchover: null,
      preferred: null,
      sites: [{ site: 'a', priority: 100, drained: null, failed: null, override: null }],
      nodes: [
        {
          node: 'a1',
          site: 'a',
          host: 'test',
          pid: 1,
          roles: ['elector', 'leader'],
          state: 'READY',
          priority: 100,
          score: null,
          scores: {},
          slot: 1,
          seat: 0,
          eligible: true,
          reasons: [],
        },
      ],
      problems: [],
    });
  });

  it('has what nodes publish about themselves, and what the strategy makes of it', async () => {
    await using group = await newGroup();
    for (const node of ['a1', 'b1', 'c1']) await group.node(node);
    await group.node('d1', { health: { ok: false, reason: 'disk full' } });
    await group.store.create(group.paths.scores, Buffer.alloc(0), 'persistent');
    const publish = async (node: string, values: Record<string, number | string>, incarnation = node) => {
      const report = JSON.stringify({ node, incarnation, values, roundTripsMs: {} });
      await group.session(node).create(group.paths.score(node), Buffer.from(report), 'ephemeral');
    };
    await publish('a1', { requests: 7.5, history: '9223372036854775807' });
    await publish('b1', { requests: 12 });
    await publish('c1', { requests: 99 }, 'an earlier life');
    await publish('d1', { requests: 100 });
    const scoresIn = async () => {
      const { nodes } = await listOf(group);
      return nodes.map(({ node, score, scores }) => [node, score, scores]);
    };
    const a1 = { requests: 7.5, history: '9223372036854775807' };
    expect(await scoresIn()).toEqual([
      ['a1', null, a1],
      ['b1', null, { requests: 12 }],
      ['c1', null, {}],
      ['d1', null, { requests: 100 }],
    ]);
    await group.configure({ strategy: 'request' });
    expect(await scoresIn()).toEqual([
      ['a1', 7.5, a1],
      ['b1', 12, { requests: 12 }],
      ['c1', null, {}],
      ['d1', null, { requests: 100 }],
    ]);
    // `readGroup` reads the scores without a request for them if the strategy compares scores.
    const view = await readGroup(group.access);
    expect(explain(view, Date.now()).ranking[0]).toMatchObject({ node: 'b1', rank: 1 });
    await group.store.set(group.paths.score('b1'), Buffer.from('garbage'), 'any');
    const { problems } = await listOf(group);
    expect(problems).toEqual([
      { path: group.paths.score('b1'), node: 'b1', problem: 'cannot be read: invalid JSON' },
    ]);
  });

  it('shows each state and role', async () => {
    await using group = await newGroup();
    for (const node of ['a1', 'a2', 'b1']) await group.node(node);
    await group.node('b2', { health: { ok: false, reason: 'disk full' } });
    await group.node('b3', { draining: true });
    await group.node('b4');
    await group.node('c1', { priority: 7 });
    const byHand = { by: 'eve', reason: 'new disk', at: '2026-01-01T00:00:00.000Z' };
    await group.configure({ drained: { b4: byHand }, sites: { c: { drained: byHand } } });
    const failures = [
      {
        node: 'a2',
        incarnation: 'a2',
        count: 2,
        reason: 'exit 1',
        failedAt: '2026-01-01T00:00:00.000Z',
        until: '2099-01-01T00:00:00.000Z',
        restarted: false,
      },
    ];
    await group.elect({ node: 'b1', site: 'b', term: 4, failures });
    const states = async () => {
      const list = await listOf(group);
      return Object.fromEntries(
        list.nodes.map(({ node, state, roles }) => [node, [state, ...roles].join(' ')]),
      );
    };
    expect(await states()).toEqual({
      a1: 'STANDBY elector',
      a2: 'BACKOFF',
      b1: 'ELECTED candidate',
      b2: 'UNHEALTHY',
      b3: 'DRAINING',
      b4: 'DRAINING',
      c1: 'STANDBY',
    });
    const list = await listOf(group);
    expect(nodeOf(list, 'b2')).toMatchObject({ eligible: false, reasons: ['it is unhealthy: disk full'] });
    expect(nodeOf(list, 'b4').reasons).toEqual(['it was drained by eve: new disk']);
    expect(nodeOf(list, 'c1')).toMatchObject({
      score: null,
      priority: 7,
      reasons: ['site c was drained by eve: new disk'],
    });
    expect(nodeOf(list, 'a2').reasons).toEqual([
      'it is in backoff until 2099-01-01T00:00:00.000Z: exit 1 (2 failures in a row)',
    ]);
    expect(list.sites.find(({ site }) => site === 'c')).toMatchObject({ drained: { by: 'eve' } });

    await group.claim('b1', { status: 'PROGRESS', term: 4 });
    expect((await states()).b1).toBe('PROGRESS leader candidate');
    await group.claim('b1', { status: 'READY', term: 4 });
    expect((await states()).b1).toBe('READY leader');
    await group.elect({ node: 'a1', site: 'a', term: 5 });
    expect(await states()).toMatchObject({ b1: 'RELEASING leader', a1: 'ELECTED elector candidate' });
  });

  it('P33 shows how far a transition has come', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1');
    await group.lead('a1', 1);
    expect((await listOf(group)).transition).toBeNull();

    await group.elect({ node: 'b1', site: 'b', term: 2 });
    expect((await listOf(group)).transition).toMatchObject({
      term: 2,
      phase: 'releasing',
      node: 'a1',
      to: 'b1',
      limitMs: 30_000,
    });

    await group.session('a1').delete(group.paths.current, 'any');
    expect((await listOf(group)).transition).toMatchObject({
      phase: 'claiming',
      node: 'b1',
      limitMs: 10_000,
    });

    await group.claim('b1', { status: 'PROGRESS', term: 2 });
    const { transition } = await listOf(group, 12_000);
    expect(transition).toMatchObject({ phase: 'taking-over', node: 'b1', limitMs: 60_000 });
    if (transition === null) throw new Error('no transition');
    expect(transition.elapsedMs).toBeGreaterThanOrEqual(12_000);
    expect(transitionText({ ...transition, elapsedMs: 12_345 })).toBe('b1 is taking over (12 s of 60 s)');
  });

  it('shows a priority as it is in force, and its override until it ends', async () => {
    await using group = await newGroup();
    await group.node('a1');
    const override = {
      priority: 0,
      until: new Date(Date.now() + 3_600_000).toISOString(),
      by: 'eve',
      reason: 'flood',
      at: '2026-01-01T00:00:00.000Z',
    };
    await group.configure({ sites: { a: { priority: 50, override } } });
    const { priority, until, by, reason } = override;
    expect((await listOf(group)).sites).toEqual([
      {
        site: 'a',
        priority: 0,
        drained: null,
        failed: null,
        override: { priority, until, priorityAfter: 50, by, reason },
      },
    ]);
    expect(nodeOf(await listOf(group), 'a1').eligible).toBe(false);
    expect((await listOf(group, 3_601_000)).sites).toEqual([
      { site: 'a', priority: 50, drained: null, failed: null, override: null },
    ]);
  });

  it('says that a preferred leader is available when failback is manual', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1');
    await group.configure({ failback: 'manual', sites: { a: { priority: 200 } } });
    await group.lead('b1', 2);
    const { preferred } = await listOf(group);
    expect(preferred?.node).toBe('a1');
    expect(preferred?.reason).toContain('failback is manual');
  });

  it('shows a pause and a switchover that waits', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.lead('a1', 2);
    const byHand = { by: 'eve', reason: 'tests', at: '2026-01-01T00:00:00.000Z' };
    const switchover = {
      to: 'best-other',
      replacesTerm: 2,
      notBefore: '2099-01-01T00:00:00.000Z',
      force: false,
      ...byHand,
    };
    await group.configure({ paused: byHand, switchover });
    expect(await listOf(group)).toMatchObject({ paused: byHand, switchover });
    await group.configure({ switchover: { ...switchover, replacesTerm: 1 } });
    expect((await listOf(group)).switchover).toBeNull();
  });

  it('shows nonsense in a znode as a problem at its place, and the rest as it is', async () => {
    await using group = await newGroup();
    for (const node of ['a1', 'a2', 'b1']) await group.node(node);
    await group.lead('b1', 3);
    await group.session('a2').set(group.paths.node('a2'), Buffer.from('{"site": 1}'), 'any');
    await group.store.create(group.paths.seat('stray'), Buffer.alloc(0), 'ephemeral');
    expect(await listOf(group)).toMatchObject({
      elector: 'a1',
      leader: { node: 'b1' },
      nodes: [
        { node: 'a1' },
        { node: 'a2', site: null, host: null, pid: null, state: 'UNHEALTHY', eligible: false },
        { node: 'b1', state: 'READY' },
      ],
      problems: [
        { path: group.paths.node('a2'), node: 'a2', problem: expect.stringContaining('cannot be read: ') },
        {
          path: group.paths.seat('stray'),
          node: null,
          problem: expect.stringContaining('is not an election znode'),
        },
      ],
    });

    for (const path of [group.paths.config, group.paths.elected, group.paths.history]) {
      await group.store.set(path, Buffer.from('\u0000nonsense'), 'any');
    }
    await group.session('b1').set(group.paths.current, Buffer.from('[]'), 'any');
    const list = await listOf(group);
    expect(list.leader).toMatchObject({ node: 'b1', status: null });
    expect(list.problems.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        group.paths.config,
        group.paths.elected,
        group.paths.current,
        group.paths.history,
      ]),
    );
  });

  it('marks a seat and a claim whose owner is not registered', async () => {
    await using group = await newGroup();
    const gone = await group.node('a1');
    await group.node('b1');
    await group.lead('a1', 1);
    await gone.delete(group.paths.node('a1'), 'any');
    const list = await listOf(group);
    expect(list).toMatchObject({ elector: 'a1', leader: { node: 'a1', site: 'a' }, nodes: [{ node: 'b1' }] });
    expect(list.problems).toEqual([
      {
        path: expect.stringContaining('/election/a1-'),
        node: 'a1',
        problem: expect.stringContaining('is not registered'),
      },
      {
        path: group.paths.current,
        node: 'a1',
        problem: expect.stringContaining(`0x${gone.sessionId.toString(16)}`),
      },
    ]);
  });

  it('is refused where there is no group', async () => {
    await using group = await newGroup();
    await expect(readGroup({ ...group.access, paths: groupPaths('/no/such/group') })).rejects.toMatchObject({
      code: 'INVALID',
      message: expect.stringContaining('there is no group at /no/such/group'),
    });
  });
});

describe('explain', () => {
  it('says what breaks a tie', async () => {
    await using group = await newGroup();
    for (const node of ['a1', 'a2', 'b1']) await group.node(node);
    await group.configure({ sites: { b: { priority: 50 } } });
    await group.lead('a1', 1);
    const equal = 'site a has priority 100, the node has priority 100';
    expect(explain(await readGroup(group.access), Date.now()).ranking).toMatchObject([
      { node: 'a1', reason: `${equal}; tied with a2: the lower node id ranks first` },
      { node: 'a2', reason: `${equal}; tied with a1: the lower node id ranks first` },
      { node: 'b1', reason: 'site b has priority 50, the node has priority 100' },
    ]);
  });

  it('says why the node that ranks first does not lead', async () => {
    await using group = await newGroup();
    for (const node of ['a1', 'a2']) await group.node(node);
    await group.lead('a2', 1);
    const tied = explain(await readGroup(group.access), Date.now());
    expect(tieText(tied)).toBe('a1 ranks first, but only by the tie-break: a2 stays');
    await group.lead('a1', 2);
    expect(tieText(explain(await readGroup(group.access), Date.now()))).toBeNull();
  });

  it('ranks the eligible, and gives every reason of the others', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1', { priority: 0, health: { ok: false, reason: 'disk full' } });
    await group.node('b2');
    await group.configure({ sites: { b: { priority: 50 } } });
    await group.lead('a1', 1);
    const view = await readGroup(group.access);
    expect(explain(view, Date.now())).toMatchObject({
      elected: { node: 'a1', term: 1 },
      choice: { node: 'a1', changes: false },
      ranking: [
        { rank: 1, node: 'a1', site: 'a' },
        { rank: 2, node: 'b2', site: 'b', reason: 'site b has priority 50, the node has priority 100' },
      ],
      ineligible: [
        { node: 'b1', site: 'b', ineligibleReasons: [{ kind: 'unhealthy' }, { kind: 'priority-zero' }] },
      ],
    });
    const without = explain(view, Date.now(), { withoutSites: ['a'] });
    expect(without).toMatchObject({
      choice: { node: 'b2', changes: true, cause: 'failure' },
      ranking: [{ node: 'b2' }],
    });
    expect(explain(view, Date.now(), { without: ['a1', 'b2'] }).choice).toMatchObject({
      node: null,
      changes: true,
    });
    expect(() => explain(view, Date.now(), { without: ['zz'] })).toThrow(
      'not registered: node zz; registered: a1, b1, b2',
    );
  });
});
