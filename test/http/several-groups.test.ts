/**
 * One agent in two groups, queried over HTTP. Every call about a group must name the group. Otherwise it is
 * rejected with an explanation.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type PetrelProcess, startProcess } from '../support/agents.js';
import { visit } from '../support/browser.js';
import { launchChromium, leavesOutChromium, notHere } from '../support/chromium.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { type Call, caller, token } from '../support/http.js';
import { scrape } from '../support/prometheus.js';
import { until } from '../support/until.js';

const [orders, search] = [uniqueRoot('orders'), uniqueRoot('search')];
let directory: string;
let agent: PetrelProcess;
let url: string;
let call: Call;
let described: Description;

const parameterSchema = z.looseObject({ name: z.string(), in: z.string(), required: z.boolean().optional() });
const operationSchema = z.looseObject({
  parameters: z.array(parameterSchema).default([]),
  responses: z.record(z.string(), z.unknown()),
});
const descriptionSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
});
type Description = z.infer<typeof descriptionSchema>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'petrel-two-groups-'));
  const config = join(directory, 'petrel.yaml');
  writeFileSync(config, `nodeId: a1\nsite: a\ngroups:\n  - root: ${orders}\n  - root: ${search}\n`);
  agent = await startProcess(['agent', '--config', config], {
    PETREL_ZOOKEEPER: await sharedZooKeeper(),
    PETREL_LISTEN: '127.0.0.1:0',
    PETREL_HTTP_TOKEN: token,
  });
  url = String((await agent.logged(/^HTTP server listening on/, { timeoutMs: 60_000 })).url);
  call = await caller(url);
  described = descriptionSchema.parse(await (await fetch(`${url}/openapi.json`)).json());
  for (const root of [orders, search]) {
    await until(async () => (await call(`/leader?root=${root}`)).status === 200, { timeoutMs: 60_000 });
    await until(async () => (await call(`/history?root=${root}`)).body !== undefined);
  }
});
afterAll(async () => {
  await agent?.stop();
  rmSync(directory, { recursive: true });
});

interface Operation extends z.infer<typeof operationSchema> {
  readonly method: string;
  readonly path: string;
}

function operations(): Operation[] {
  return Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path: path
        .replace('{term}', '1')
        .replace('{site}', 'a')
        .replace('{node}', 'a1')
        .replace('{flag}', 'a-flag'),
    })),
  );
}

/**
 * Returns the operations that take `?root=`. Excludes the page, which is the same for all groups, and the
 * events, which never end.
 */
function aboutGroups(): Operation[] {
  return operations().filter(
    ({ path, parameters }) =>
      path !== '/' && path !== '/events' && parameters.some(({ name }) => name === 'root'),
  );
}

/** Returns a body with which the operation changes nothing. */
function bodyOf({ method, path }: Operation): { readonly body?: unknown } {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return {};
  const more = path.endsWith('/priority') && method === 'PUT' ? { priority: 0 } : {};
  return { body: { dryRun: true, ...(path === '/failover' ? { to: 'a1' } : {}), ...more } };
}

async function statusOf(operation: Operation, query: string): Promise<{ status: number; text: string }> {
  const { body } = bodyOf(operation);
  const answer = await fetch(`${url}${operation.path}${query}`, {
    method: operation.method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

const name = ({ method, path }: Operation) => `${method} ${path}`;

describe('an agent in two groups', () => {
  it('describes which calls are about a group, and which about a slot', () => {
    const takes = (wanted: string) =>
      operations()
        .filter(({ parameters }) => parameters.some((one) => one.name === wanted && one.in === 'query'))
        .filter(({ method }) => method === 'GET')
        .map(({ path }) => path);
    const without = operations().filter(({ parameters }) => !parameters.some((one) => one.name === 'root'));
    expect(without.map(name)).toEqual(['GET /metrics']);
    expect(takes('slot').toSorted()).toEqual(
      ['/elector', '/explain', '/history', '/leader', '/ready', '/standby', '/terms/1'].toSorted(),
    );
    expect(
      operations()
        .flatMap(({ parameters }) => parameters)
        .filter(({ in: place }) => place === 'query'),
    ).toSatisfy((all: { required?: boolean }[]) => all.every(({ required }) => required !== true));
    for (const { responses, path } of aboutGroups()) expect(Object.keys(responses), path).toContain('404');
  });

  it('answers every call for the group that it names', async () => {
    expect(aboutGroups().length).toBeGreaterThan(30);
    for (const operation of aboutGroups()) {
      const { status, text } = await statusOf(operation, `?root=${search}`);
      const isRefused =
        ['/switchover', '/failover', '/nodes/a1/clear-failure'].includes(operation.path) ||
        name(operation) === 'DELETE /sites/a';
      const right =
        operation.path === '/standby'
          ? 503
          : isRefused
            ? expect.toSatisfy((one) => one === 200 || one === 412 || one === 409)
            : 200;
      expect(status, `${name(operation)}: ${text}`).toEqual(right);
    }
    for (const root of [orders, search]) {
      expect((await call(`/status?root=${root}`)).body).toMatchObject({ root, leader: { node: 'a1' } });
      expect((await call(`/leader?root=${root}`)).body).toMatchObject({ root, leads: true });
    }
  });

  it('answers 400 and lists the groups where none is named, and 404 where it is another', async () => {
    for (const operation of aboutGroups().filter(({ path }) => path !== '/health')) {
      const unnamed = await statusOf(operation, '');
      expect(unnamed.status, name(operation)).toBe(400);
      if (operation.method !== 'HEAD') {
        expect(JSON.parse(unnamed.text), name(operation)).toMatchObject({
          error: { code: 'INVALID', reasons: [`?root=${orders}`, `?root=${search}`] },
        });
      }
      const unknown = await statusOf(operation, '?root=/another');
      expect(unknown.status, name(operation)).toBe(404);
    }
    expect(
      (await statusOf({ method: 'GET', path: '/health', parameters: [], responses: {} }, '?root=/x')).status,
    ).toBe(404);
  });

  it('answers /health without one, and has all groups in /metrics', async () => {
    expect((await call('/health')).body).toEqual({ groups: 2 });
    expect((await call(`/health?root=${search}`)).body).toMatchObject({ root: search, node: 'a1' });
    const { samples } = await scrape(url);
    const leads = [...samples].filter(([series]) => series.startsWith('petrel_leader{'));
    expect(leads.map(([, value]) => value)).toEqual([1, 1]);
    for (const root of [orders, search]) {
      expect(leads.some(([series]) => series.includes(`root="${root}"`))).toBe(true);
    }
  });

  it('sends the events of the group that is named, and says where to follow a change of it', async () => {
    const controller = new AbortController();
    const events = await fetch(`${url}/events?root=${search}`, { signal: controller.signal });
    let heard = '';
    for await (const piece of events.body ?? []) {
      heard += Buffer.from(piece).toString('utf8');
      if (heard.includes('event: status')) break;
    }
    controller.abort();
    expect(heard).toContain(`"root":"${search}"`);
    for (const [query, status] of [
      ['', 400],
      ['?root=/another', 404],
    ] as const) {
      expect((await fetch(`${url}/events${query}`)).status).toBe(status);
    }
    const paused = await call(`/pause?root=${search}`, { method: 'POST', body: { reason: 'a test' } });
    expect(paused.status).toBe(202);
    expect((await call(`/status?root=${search}`)).body).toMatchObject({ paused: { reason: 'a test' } });
    expect((await call(`/status?root=${orders}`)).body).toMatchObject({ paused: null });
    await call(`/resume?root=${search}`, { method: 'POST', body: {} });
  });

  it('has links to the page of each at /', async () => {
    const answer = await fetch(`${url}/`, { headers: { 'if-none-match': '*' } });
    expect(answer.status).toBe(200);
    const html = await answer.text();
    const links = [...html.matchAll(/<a href="([^"]+)">([^<]+)</g)].map(([, href = '', text]) => [
      new URL(href, `${url}/`).searchParams.get('root'),
      text,
    ]);
    expect(links).toEqual([orders, search].map((root) => [root, root]));
  });

  it.skipIf(leavesOutChromium)(`has a page of each, one click from /${notHere}`, async () => {
    const browser = await launchChromium();
    try {
      await using start = await visit(browser, url);
      await start.page.getByRole('heading', { name: 'This agent is in 2 groups' }).waitFor();
      await start.page.getByRole('link', { name: search }).click();
      await start.page.locator('.root').getByText(search, { exact: true }).waitFor();
      for (const root of [orders, search]) {
        await using seen = await visit(browser, `${url}/?root=${root}`);
        await seen.page.getByRole('heading', { name: 'a1 leads' }).waitFor();
        await seen.page.locator('.root').getByText(root, { exact: true }).waitFor();
        await seen.page.getByText('a1 (first)').waitFor();
      }
    } finally {
      await browser.close();
    }
  });
});
