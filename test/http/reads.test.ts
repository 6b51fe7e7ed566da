/** /status, /history, /explain and /terms give the same output as the commands, at a bounded cost. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listing, listingSchema } from '../../src/group/listing.js';
import { readGroup } from '../../src/group/view.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { builtInRules } from '../../strategies/index.js';
import { Group } from '../support/agent-group.js';
import { type Api, openApi } from '../support/http.js';
import { ledOnRecord, patient } from '../support/led-group.js';
import { until } from '../support/until.js';

let zookeeper: DevelopmentServer;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer(patient);
});
afterAll(() => zookeeper.close());

/** Returns the number of requests from the sessions that read the group, without pings. */
function requestsOf({ stores }: Api): number {
  const traffic = zookeeper.requestCounts();
  return stores.reduce((sum, { sessionId }) => {
    const { ping: _, ...others } = traffic.get(sessionId)?.requests ?? {};
    return sum + Object.values(others).reduce((count, one) => count + one, 0);
  }, 0);
}

describe('reading over HTTP', () => {
  it('shows the group as the commands do', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    const status = await api.call('/status');
    expect(status.status).toBe(200);
    const view = await readGroup({ store: group.store, paths: group.paths, rules: builtInRules });
    expect(listingSchema.parse(status.body)).toEqual(listing(view, Date.now()));

    expect((await api.call('/history')).body).toMatchObject({
      root: group.root,
      records: [{ kind: 'transition', term: 1, node: 'a', outcome: 'READY' }],
    });
    expect((await api.call('/explain')).body).toMatchObject({
      choice: { node: 'a', changes: false },
      ranking: [{ node: 'a' }, { node: 'b' }],
    });
    expect((await api.call('/explain?without=a')).body).toMatchObject({
      without: { nodes: ['a'], sites: [] },
      choice: { node: 'b', changes: true },
    });
    expect((await api.call('/explain?without=a&without=b')).body).toMatchObject({ choice: { node: null } });
    expect((await api.call('/explain?withoutSite=here')).body).toMatchObject({ choice: { node: null } });
    expect((await api.call('/terms/1')).body).toMatchObject({ outcome: { state: 'READY', node: 'a' } });
    expect((await api.call('/terms/2')).body).toEqual({ term: 2, outcome: null });
  });

  it('shows what has become of a term that is over', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    await group.switchover('b');
    await group.ready('b');
    expect((await api.call('/terms/1')).body).toMatchObject({
      outcome: { state: 'READY', node: 'a', record: { term: 1 } },
    });
    const history = (await api.call('/history?n=1')).body;
    expect(history).toMatchObject({ records: [expect.anything()] });
  });

  it.each([
    ['/history?n=0', 'query.n: a whole number from 1 to 10000'],
    ['/history?n=many', 'query.n: a whole number from 1 to 10000'],
    ['/history?m=1', 'query: unknown `m`; expected one of n, slot, root'],
    ['/explain?without=c', 'not registered: node c; registered: a, b'],
    ['/explain?without=a/b', expect.stringContaining('expected a name of 1 to 128 letters')],
    ['/terms/0', expect.stringContaining('params.term: a whole number')],
  ])('answers 400 to %s, and says what would be right', async (path, message) => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    expect(await api.call(path)).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID', message } },
    });
  });

  it('answers 405 where another method is due, and says which are', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    for (const [method, path, allow] of [
      ['GET', '/pause', 'POST'],
      ['OPTIONS', '/switchover', 'POST'],
      ['HEAD', '/nodes/a/drain', 'POST'],
      ['POST', '/sites/here/priority?root=x', 'DELETE, PUT'],
      ['POST', '/status', 'GET, HEAD'],
      ['DELETE', '/terms/1', 'GET, HEAD'],
      ['POST', '/leader', 'GET, HEAD, OPTIONS'],
      ['HEAD', '/events', 'GET'],
    ] as const) {
      const { status, headers, body } = await api.call(path, { method, token: null });
      expect({ path, status, allow: headers.get('allow') }).toEqual({ path, status: 405, allow });
      if (method !== 'HEAD')
        expect(body).toMatchObject({
          error: { code: 'METHOD_NOT_ALLOWED', message: expect.stringContaining(allow) },
        });
    }
  });

  it('answers 404 to what is not there, naming what is', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    const { status, body } = await api.call('/switch-over', { method: 'POST' });
    expect(status).toBe(404);
    expect(body).toMatchObject({
      error: { code: 'NOT_FOUND', reasons: [expect.stringContaining('POST /switchover')] },
    });
  });

  it('does not touch the sessions of agents, and shares one look among all who wait', async () => {
    await using group = await Group.found(zookeeper.connectString);
    const member = await ledOnRecord(group);
    await using api = await openApi(group, member);
    await api.call('/status');
    const oneLook = requestsOf(api);
    expect(api.stores).toHaveLength(1);
    expect(api.stores[0]?.sessionId).not.toBe(member.store.sessionId);
    const before = requestsOf(api);
    const beganAtMs = performance.now();
    const codes = await Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const answer = await fetch(`${api.server.url}/status`);
        await answer.text();
        return answer.status;
      }),
    );
    const tookMs = performance.now() - beganAtMs;
    expect(codes.filter((code) => code !== 200)).toEqual([]);
    const looks = (requestsOf(api) - before) / oneLook;
    process.stdout.write(
      `1,000 pollers at once: ${looks.toFixed(1)} looks at ZooKeeper in ${Math.round(tookMs)} ms\n`,
    );
    // The interface reads the group at most once per 50 ms, regardless of the number of clients.
    expect(looks).toBeLessThan(tookMs / 50 + 2);
  });

  it('asks nothing of ZooKeeper for what a node is itself', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    await Promise.all(['/leader', '/standby', '/elector', '/health', '/ready'].map((path) => api.call(path)));
    expect(api.stores).toHaveLength(0);
  });

  it('answers 503 while ZooKeeper is out of reach, and again when it is back', async () => {
    await using own = await startDevelopmentServer(patient);
    await using group = await Group.found(own.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    expect((await api.call('/status')).status).toBe(200);
    await own.halt();
    expect(await api.call('/status')).toMatchObject({
      status: 503,
      body: { error: { code: 'UNREACHABLE' } },
    });
    await own.restart();
    await until(async () => (await api.call('/status')).status === 200, { timeoutMs: 20_000 });
  });

  it('shows what was changed before the request', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    for (const priority of [1, 2, 3, 4, 5]) {
      await Promise.all([api.call('/status'), api.call('/status')]);
      const body = { priority };
      expect((await api.call('/sites/here/priority', { method: 'PUT', body })).status).toBe(202);
      expect((await api.call('/status')).body).toMatchObject({ sites: [{ site: 'here', priority }] });
    }
  });
});
