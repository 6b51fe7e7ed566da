/** Changes to the group over HTTP: the permissions and the requests that they need, and the answers. */

import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group } from '../support/agent-group.js';
import { type Api, openApi, token } from '../support/http.js';
import { started } from '../support/known.js';
import { led, patient, sessionTimeoutMs } from '../support/led-group.js';
import { RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

let zookeeper: DevelopmentServer;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer(patient);
});
afterAll(() => zookeeper.close());

const post = { method: 'POST' } as const;

/** Returns a getter for one interface that all tests of a `describe` share. These tests change nothing. */
function useApi(): () => Api {
  let group: Group | undefined;
  let api: Api | undefined;
  beforeAll(async () => {
    group = await Group.found(zookeeper.connectString);
    api = await openApi(group, await led(group));
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await group?.[Symbol.asyncDispose]();
  });
  return () => started(api, 'the interface');
}

describe('a change over HTTP', () => {
  it('is accepted, says which term to follow and where, and comes to pass', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await led(group));
    const body = { to: 'b', reason: 'kernel', by: 'eve' };
    const { status, headers, body: answer } = await api.call('/switchover', { ...post, body });
    expect({ status, location: headers.get('location') }).toEqual({ status: 202, location: '/terms/2' });
    expect(answer).toMatchObject({
      what: 'switchover requested: a → b',
      changed: true,
      dryRun: false,
      follows: { node: 'b', cause: 'planned' },
      term: 2,
      follow: { outcome: '/terms/2', events: '/events' },
    });
    await group.ready('b');
    await until(async () => {
      const { body: term } = await api.call('/terms/2');
      expect(term).toMatchObject({ outcome: { state: 'READY', node: 'b' } });
      return true;
    });
    const [change] = (await group.history()).filter(({ kind }) => kind === 'change');
    expect(change).toMatchObject({ by: 'eve, HTTP from 127.0.0.1', reason: 'kernel' });
  });

  it('can be any that the commands make', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await led(group));
    const change = async (method: string, path: string, body?: unknown) => {
      const answer = await api.call(path, { method, ...(body === undefined ? {} : { body }) });
      expect(answer, `${method} ${path}`).toMatchObject({ status: 202, body: { changed: true } });
      return await group.config();
    };
    expect(await change('POST', '/pause', { reason: 'network' })).toMatchObject({
      paused: { by: 'HTTP from 127.0.0.1', reason: 'network' },
    });
    expect(await change('POST', '/nodes/b/drain')).toMatchObject({ drained: { b: {} } });
    expect(await change('POST', '/nodes/b/undrain')).toMatchObject({ drained: {} });
    const override = { priority: 7, until: expect.any(String) };
    expect(await change('PUT', '/sites/here/priority', { priority: 7, for: '2h' })).toMatchObject({
      sites: { here: { override } },
    });
    expect((await change('DELETE', '/sites/here/priority')).sites).toEqual({});
    expect(await change('POST', '/sites/here/drain', { yes: true })).toMatchObject({
      sites: { here: { drained: { reason: expect.any(String) } } },
    });
    expect((await change('POST', '/sites/here/undrain')).sites).toEqual({});
    expect(await change('POST', '/sites/here/mark-failed', { reason: 'flooded' })).toMatchObject({
      sites: { here: { failed: { byRule: false, reason: 'flooded' } } },
    });
    expect((await change('POST', '/sites/here/mark-healthy')).sites).toEqual({});
    await change('POST', '/sites/gone/drain', { allowUnknown: true });
    expect((await change('DELETE', '/sites/gone')).sites).toEqual({});
    expect(await change('PUT', '/flags/sale')).toMatchObject({ flags: { sale: {} } });
    expect(await change('DELETE', '/flags/sale')).toMatchObject({ flags: {} });
    expect(await change('POST', '/resume')).toMatchObject({ paused: null });
    expect(await change('POST', '/switchover', { to: 'b', at: '30m' })).toMatchObject({
      switchover: { to: { node: 'b' } },
    });
    expect(await change('POST', '/switchover', { cancel: true })).toMatchObject({ switchover: null });
    await group.ready('a');
    expect(await change('POST', '/failover', { to: 'b' })).toMatchObject({ switchover: { force: true } });
    await group.ready('b');
  });

  it('clears a node’s failure', async () => {
    await using group = await Group.found(zookeeper.connectString, {
      backoff: { base: '10m', max: '10m' },
    });
    const fails = new RecordingWorkload({
      takeover: () => {
        throw new Error('no disk');
      },
    });
    const member = group.start('a', { workload: fails, priority: 200, sessionTimeoutMs });
    await member.joined();
    const other = group.start('b', { sessionTimeoutMs });
    await group.ready('b');
    await using api = await openApi(group, other);
    expect(await api.call('/nodes/a/clear-failure', post)).toMatchObject({ status: 202 });
    expect(await api.call('/nodes/b/clear-failure', post)).toMatchObject({
      status: 200,
      body: { changed: false, what: 'node b is not in backoff', follow: null },
    });
  });

  it('that is only to be tried writes nothing', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await led(group));
    const before = await group.config();
    const body = { to: 'b', dryRun: true };
    expect(await api.call('/switchover', { ...post, body })).toMatchObject({
      status: 200,
      body: { changed: false, dryRun: true, term: 2, follows: { node: 'b' }, follow: null },
    });
    // If a dry run is requested in an invalid way, it must not become a real change.
    expect(await api.call('/pause?dryRun=true', post)).toMatchObject({ status: 400 });
    const headers = { 'content-type': 'application/json' };
    expect(await api.call('/pause', { ...post, body: 'null', headers })).toMatchObject({ status: 400 });
    expect(await group.config()).toEqual(before);
  });

  it('is refused with reasons, or because something is under way', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await led(group));
    expect(await api.call('/switchover', { ...post, body: { to: 'c' } })).toMatchObject({
      status: 412,
      body: {
        error: {
          code: 'REFUSED',
          message: 'c cannot take over from a',
          reasons: ['c is not registered', expect.anything(), expect.anything()],
        },
      },
    });
    expect(await api.call('/sites/nowhere/drain', post)).toMatchObject({ status: 412 });
    expect(await api.call('/sites/here/drain', post)).toMatchObject({
      status: 412,
      body: { error: { reasons: [expect.stringContaining('the group would have no leader')] } },
    });
    expect(await api.call('/sites/here', { method: 'DELETE' })).toMatchObject({
      status: 412,
      body: { error: { message: 'site here has registered nodes, so it cannot be forgotten' } },
    });
    expect(await api.call('/sites/nowhere', { method: 'DELETE' })).toMatchObject({ status: 412 });
    const later = { to: 'b', at: '30m' };
    expect(await api.call('/switchover', { ...post, body: later })).toMatchObject({
      status: 202,
      body: { term: 2, follow: { outcome: '/terms/2' } },
    });
    expect(await api.call('/switchover', { ...post, body: { to: 'b' } })).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', message: expect.stringContaining('is pending') } },
    });
  });

  it('wants JSON, and not too much of it', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await led(group));
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': type };
      expect(await api.call('/pause', { ...post, body: '{}', headers })).toMatchObject({
        status: 415,
        body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } },
      });
    }
    const body = { reason: 'x'.repeat(20_000) };
    expect(await api.call('/pause', { ...post, body })).toMatchObject({ status: 413 });
  });
});

describe('a change by somebody who has no right to it', () => {
  const served = useApi();

  it.each([
    ['without a token', { token: null }],
    ['with a wrong token', { token: `${token}0` }],
    ['with a token that is shorter', { token: token.slice(1) }],
    ['by another scheme', { token: null, headers: { authorization: `Basic ${token}` } }],
  ])('%s is answered by 401, and nothing is looked at', async (_, options) => {
    const { status, headers, body } = await served().call('/pause', { ...post, body: '{', ...options });
    expect({ status, body }).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
    expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="petrel"/);
    expect(served().stores).toHaveLength(0);
  });
});

describe('a change that makes no sense', () => {
  const served = useApi();

  it.each<[method: string, path: string, body: unknown, message: string]>([
    ['POST', '/switchover', { to: 'b/1' }, 'body.to: expected a name of 1 to 128'],
    ['POST', '/switchover', { whom: 'b' }, 'body: unknown `whom`; expected one of reason, by'],
    ['POST', '/switchover', { to: 'b', toSite: 'here' }, 'body: set either to or toSite, not both'],
    ['POST', '/switchover', { cancel: true, to: 'b' }, 'body: cancel cannot be combined with to'],
    ['POST', '/switchover', { at: 'tomorrow' }, 'body.at: expected a timestamp, such as'],
    ['POST', '/switchover', '{"to":', 'JSON'],
    ['POST', '/switchover', '{"__proto__": {}}', 'JSON'],
    ['POST', '/switchover', [], 'body: expected keys with values, found a list'],
    ['POST', '/failover', {}, 'body.to: '],
    [
      'PUT',
      '/sites/here/priority',
      { priority: -1 },
      'body.priority: expected a whole number from 0 to 1000000',
    ],
    ['PUT', '/sites/here/priority', { priority: 1, for: '20' }, 'body.for: 20 has no unit'],
    ['POST', '/sites/a%2Fb/drain', {}, 'params.site: expected a name of'],
    ['POST', '/pause', { reason: 'a\nb' }, 'body.reason: expected one line'],
    ['POST', '/pause', { by: 'eve\u202E' }, 'body.by: expected one line of printable characters'],
    ['POST', '/pause', { reason: 'x'.repeat(501) }, 'body.reason: expected at most 500 characters'],
  ])('%s %s with %j is answered by 400', async (method, path, body, message) => {
    const { status, body: answer } = await served().call(path, { method, body });
    expect(answer).toMatchObject({ error: { code: 'INVALID', message: expect.stringContaining(message) } });
    expect(status).toBe(400);
  });
});

describe('a change by somebody who may not', () => {
  it('is answered by 403 where there is no token to have', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await led(group), { secrets: { token: null } });
    expect(await api.call('/pause', post)).toMatchObject({
      status: 403,
      body: { error: { code: 'FORBIDDEN', reasons: [expect.stringContaining('--http-token-file')] } },
    });
  });

  it('again and again is answered by 429, and keeps nobody out who has the token', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await led(group));
    const codes: number[] = [];
    for (let n = 0; n < 12; n++) codes.push((await api.call('/pause', { ...post, token: 'wrong' })).status);
    expect(codes).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    expect((await api.call('/pause', post)).status).toBe(202);
  });

  it('gets advice in the words of HTTP, and never in flags of the command line', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await led(group));
    const refusals = [
      await api.call('/nodes/nobody/drain', post),
      await api.call('/sites/nowhere/drain', post),
      await api.call('/sites/nowhere/mark-failed', post),
      await api.call('/sites/nowhere/priority', { method: 'PUT', body: { priority: 1 } }),
    ];
    for (const { status, body } of refusals) {
      expect({ status, body }).toMatchObject({
        status: 412,
        body: {
          error: {
            reasons: [
              expect.any(String),
              expect.stringMatching(/^send "allowUnknown": true in the body to /),
            ],
          },
        },
      });
      expect(JSON.stringify(body)).not.toMatch(/(^|[ "(])--?[a-z]/);
    }
    const drained = await api.call('/nodes/nobody/drain', { ...post, body: { allowUnknown: true } });
    expect(drained.status).toBe(202);
    await api.call('/switchover', { ...post, body: { to: 'b', at: '2100-01-01T00:00:00Z' } });
    expect(await api.call('/failover', { ...post, body: { to: 'b' } })).toMatchObject({
      status: 409,
      body: {
        error: {
          reasons: [
            expect.stringContaining('is still pending'),
            'to cancel it: POST /switchover with {"cancel": true}',
            'send "yes": true in the body to force the failover anyway',
          ],
        },
      },
    });
  });

  it('leaves no token in the log', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await led(group), { log });
    await api.call('/pause', { ...post, token: 'guessed-by-somebody' });
    await api.call('/pause', post);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => line.includes(token) || line.includes('guessed'))).toEqual([]);
  });

  it('is a page of another site: no answer lets one read it, and none asks for leave', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api: Api = await openApi(group, await led(group));
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
    for (const [path, method] of [
      ['/switchover', 'OPTIONS'],
      ['/leader', 'OPTIONS'],
      ['/status', 'GET'],
    ] as const) {
      const answer = await api.call(path, { method, headers });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

it('more than sixty changes a minute are answered by 429', async () => {
  await using group = await Group.found(zookeeper.connectString);
  await using api = await openApi(group, await led(group));
  const tries = Array.from({ length: 61 }, () => api.call('/resume', post));
  const codes = (await Promise.all(tries)).map(({ status }) => status);
  expect(codes.filter((code) => code === 200)).toHaveLength(60);
  expect(codes.filter((code) => code === 429)).toHaveLength(1);
});
