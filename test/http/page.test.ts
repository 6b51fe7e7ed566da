/** The page: how it is served, and what it is to a person, in a real browser. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group } from '../support/agent-group.js';
import { leavesOutChromium, notHere, openBrowser, visit } from '../support/browser.js';
import { type Api, openApi } from '../support/http.js';
import { ledOnRecord, patient } from '../support/led-group.js';

let zookeeper: DevelopmentServer;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer(patient);
});
afterAll(() => zookeeper.close());

/** What a browser loads before it asks for anything of the group. */
async function partsOf({ server }: Api): Promise<Map<string, Response>> {
  const html = await (await fetch(`${server.url}/`)).text();
  const paths = ['/', ...[...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)];
  const answers = paths.map(async (path) => [path, await fetch(`${server.url}${path}`)] as const);
  return new Map(await Promise.all(answers));
}

describe('the page over HTTP', () => {
  it('is light, compressed, and may load nothing but what the agent has', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, group.start('a'));
    const parts = await partsOf(api);
    expect([...parts.keys()].map((path) => path.split('?')[0])).toEqual([
      '/',
      '/page/icon.svg',
      '/page/page.css',
      '/page/page.js',
    ]);
    const bytes = [...parts.values()].map(({ headers }) => Number(headers.get('content-length')));
    for (const { status, headers } of parts.values()) {
      expect({ status, encoding: headers.get('content-encoding') }).toEqual({
        status: 200,
        encoding: 'gzip',
      });
    }
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(40_000);
    const policy = parts.get('/')?.headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy.join(' ')).not.toMatch(/unsafe|\*|https?:|data:/);
  });

  it('is kept by the browser until it is another', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, group.start('a'));
    const parts = await partsOf(api);
    const tag = parts.get('/')?.headers.get('etag') ?? '';
    const again = await fetch(`${api.server.url}/`, { headers: { 'if-none-match': tag } });
    expect({ status: again.status, body: await again.text() }).toEqual({ status: 304, body: '' });
    const script = [...parts].find(([path]) => path.startsWith('/page/page.js'));
    expect(script?.[1].headers.get('cache-control')).toContain('immutable');
    const unnamed = await fetch(`${api.server.url}/page/page.js?other`);
    expect(unnamed.headers.get('cache-control')).toBe('no-cache');
  });

  it('is told plainly to who takes nothing compressed', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, group.start('a'));
    const css = readFileSync(fileURLToPath(new URL('../../src/page/page.css', import.meta.url)), 'utf8');
    const get = (accept: string) =>
      fetch(`${api.server.url}/page/page.css`, { headers: { 'accept-encoding': accept } });
    for (const accept of ['identity', 'br', 'gzip;q=0', 'gzip; q=0.0, br']) {
      const answer = await get(accept);
      expect(answer.headers.get('content-encoding'), accept).toBeNull();
      expect(await answer.text()).toBe(css);
    }
    expect((await get('deflate, gzip;q=0.5')).headers.get('content-encoding')).toBe('gzip');
  });
});

describe.skipIf(leavesOutChromium)(`the page in Chromium${notHere}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('shows the group, and a failover as it happens', async () => {
    await using group = await Group.found(zookeeper.connectString);
    const leader = await ledOnRecord(group);
    const [, other] = group.members;
    if (other === undefined) throw new Error('two were started');
    await using api = await openApi(group, other);
    await using seen = await visit(browser, api.server.url);
    const { page } = seen;
    await page.getByRole('heading', { name: 'a leads' }).waitFor();
    await page.getByText('b would follow a').waitFor();
    await page.getByText('a (first)').waitFor();
    leader.agent.stop();
    await page.getByRole('heading', { name: 'b leads' }).waitFor();
    await page.getByText('a → b (shutdown)').waitFor();
    expect(await page.title()).toBe(`b leads · ${group.root}`);
  });
});
