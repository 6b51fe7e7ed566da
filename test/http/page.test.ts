/** The page: how it is served, and what an operator sees in a real browser. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { version } from '../../src/version.js';
import { registration } from '../core/builders.js';
import { Group } from '../support/agent-group.js';
import { visit } from '../support/browser.js';
import { launchChromium, leavesOutChromium, notHere } from '../support/chromium.js';
import { type Api, openApi, token } from '../support/http.js';
import { ledOnRecord, patient, sessionTimeoutMs } from '../support/led-group.js';
import { freePorts } from '../support/ports.js';
import { RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

let zookeeper: DevelopmentServer;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer(patient);
});
afterAll(() => zookeeper.close());

/** Returns the files that a browser loads before it requests anything about the group. */
async function partsOf({ server }: Api): Promise<Map<string, Response>> {
  const html = await (await fetch(server.url)).text();
  const paths = ['', ...[...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)];
  const answers = paths.map(async (path) => [path, await fetch(`${server.url}/${path}`)] as const);
  return new Map(await Promise.all(answers));
}

describe('the page over HTTP', () => {
  it('is light, compressed, and may load nothing but what the agent has', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, group.start('a'));
    const parts = await partsOf(api);
    expect([...parts.keys()].map((path) => path.split('?')[0])).toEqual([
      '',
      'page/icon.svg',
      'page/page.css',
      'page/page.js',
    ]);
    const bytes = [...parts.values()].map(({ headers }) => Number(headers.get('content-length')));
    for (const { status, headers } of parts.values()) {
      expect({ status, encoding: headers.get('content-encoding') }).toEqual({
        status: 200,
        encoding: 'gzip',
      });
    }
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(40_000);
    const policy = parts.get('')?.headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy.join(' ')).not.toMatch(/unsafe|\*|https?:|data:/);
  });

  it('is kept by the browser until it is another', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, group.start('a'));
    const parts = await partsOf(api);
    const tag = parts.get('')?.headers.get('etag') ?? '';
    const again = await fetch(`${api.server.url}/`, { headers: { 'if-none-match': tag } });
    expect({ status: again.status, body: await again.text() }).toEqual({ status: 304, body: '' });
    const script = [...parts].find(([path]) => path.startsWith('page/page.js'));
    expect(script?.[1].headers.get('cache-control')).toContain('immutable');
    const unnamed = await fetch(`${api.server.url}/page/page.js?other`);
    expect(unnamed.headers.get('cache-control')).toBe('no-cache');
  });

  it('is sent uncompressed to a client that accepts nothing else', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, group.start('a'));
    const css = readFileSync(
      fileURLToPath(new URL('../../packages/page/src/page.css', import.meta.url)),
      'utf8',
    );
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
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  it('shows the group, and a failover as it happens', async () => {
    await using group = await Group.found(zookeeper.connectString);
    const leader = await ledOnRecord(group);
    const other = group.members[1] ?? leader;
    await using api = await openApi(group, other);
    await using seen = await visit(browser, api.server.url);
    const { page } = seen;
    await page.getByRole('heading', { name: 'a leads' }).waitFor();
    await page.getByText('If a leaves, b follows').waitFor();
    await page.getByText('a (first)').waitFor();
    leader.agent.stop();
    await page.getByRole('heading', { name: 'b leads' }).waitFor();
    await page.getByText('a → b (shutdown)').waitFor();
    expect(await page.title()).toBe(`b leads · ${group.root}`);
  });

  it('shows who takes over as one who takes over, and red when nobody comes', async () => {
    await using group = await Group.found(zookeeper.connectString);
    let takenOver = () => {};
    const takeover = new Promise<void>((resolve) => {
      takenOver = resolve;
    });
    const waits = new RecordingWorkload({ takeover: () => takeover });
    const member = group.start('a', { workload: waits, sessionTimeoutMs });
    await using api = await openApi(group, member);
    await using seen = await visit(browser, api.server.url);
    const { page } = seen;
    const heading = page.getByRole('heading', { name: /^a is taking over \(\d+ s of 60 s\)$/ });
    const first = await heading.textContent();
    // The text changes, because the counter keeps running.
    await until(async () => (await heading.textContent()) !== first);
    await page.getByText('no leader for').waitFor();
    expect(await page.locator('.card').textContent()).toContain('PROGRESS');
    expect(await page.locator('.tone-led').count()).toBe(0);
    takenOver();
    await page.getByRole('heading', { name: 'a leads' }).waitFor();
    await group.configure({ drained: { a: { by: 'eve', reason: 'x', at: '2026-01-01T00:00:00.000Z' } } });
    await page.locator('.tone-leaderless').getByRole('heading', { name: 'No leader' }).waitFor();
  });

  it('carries out maintenance, by keyboard alone, and keeps the token to itself', async () => {
    await using group = await Group.found(zookeeper.connectString, {
      sites: { here: { priority: 200 } },
      failbackHold: '1s',
    });
    await using api = await openApi(group, await ledOnRecord(group));
    await group.start('c', { site: 'there', sessionTimeoutMs }).joined();
    await using seen = await visit(browser, api.server.url);
    const { page } = seen;
    const open = async (name: string) => {
      await page.getByRole('button', { name }).first().focus();
      await page.keyboard.press('Enter');
    };
    await open('Priority… site here');
    await page.getByLabel('Token').waitFor();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This is not the token of this agent.').waitFor();
    expect(await page.getByRole('dialog').textContent()).not.toContain('Authorization');
    await page.keyboard.type(token);
    await page.keyboard.press('Enter');
    await page.getByText('c will be elected').waitFor();
    expect(
      await page.getByLabel('Priority', { exact: true }).evaluate((field) => field.matches(':focus')),
    ).toBe(true);
    expect(await group.config()).toMatchObject({ sites: { here: { override: null } } });
    await page.getByLabel('Reason').focus();
    await page.keyboard.type('<b>switch</b>');
    await page.keyboard.press('Enter');
    // Nothing is changed without a name, and the browser moves the focus to where it is missing.
    expect(await page.getByLabel('Your name').evaluate((field) => field.matches(':focus:invalid'))).toBe(
      true,
    );
    expect(await group.config()).toMatchObject({ sites: { here: { override: null } } });
    await page.keyboard.type('eve');
    await page.keyboard.press('Enter');
    await page.getByText('Term 2: c leads.').waitFor();
    await page
      .getByText(
        /override, ends in (2 h|1 h 59 min), (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC\S*, by eve, HTTP from 127\.0\.0\.1: <b>switch<\/b>/,
      )
      .waitFor();

    await page.locator('[data-node=c] summary').focus();
    await page.keyboard.press('Enter');
    await open('Drain… node c');
    await page.getByText('No node will be elected').waitFor();
    expect(await page.getByRole('button', { name: 'Drain', exact: true }).isDisabled()).toBe(true);
    await page.getByLabel('The group would have no leader').focus();
    await page.keyboard.press('Space');
    expect(await page.getByRole('button', { name: 'Drain', exact: true }).isDisabled()).toBe(false);
    await page.keyboard.press('Escape');

    await open('Reset… site here');
    await page.getByText('a will be elected').waitFor();
    // Requested once: both are remembered.
    expect(await page.getByLabel('Your name').inputValue()).toBe('eve');
    expect(await page.getByLabel('Reason').inputValue()).toBe('<b>switch</b>');
    await page.getByLabel('Reason').focus();
    await page.keyboard.press('Enter');
    await page.getByText('Term 3: a leads.').waitFor();
    expect((await group.config()).drained).toEqual({});

    const stored = await page.context().storageState();
    const session = await page.evaluate('JSON.stringify(sessionStorage)');
    const kept = [await page.content(), page.url(), JSON.stringify(stored), session].join();
    expect(kept).not.toContain(token);
  });

  it('shows what serves it, links to the docs, and forgets a site that no longer exists', async () => {
    await using group = await Group.found(zookeeper.connectString, { sites: { attic: { priority: 50 } } });
    await using api = await openApi(group, await ledOnRecord(group));
    await using seen = await visit(browser, api.server.url);
    const { page } = seen;
    const foot = page.getByRole('contentinfo');
    await foot.getByText(`a on ${hostname()}, pid ${process.pid}`).waitFor();
    await foot.getByText(version, { exact: true }).waitFor();
    await foot.getByText('connected, 1 of 1 servers respond').waitFor();
    const links = await foot
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => Reflect.get(link, 'href')));
    for (const link of links) expect((await fetch(String(link))).status, String(link)).toBe(200);
    expect(links).toContain(`${api.server.url}/metrics`);
    expect(await page.getByRole('button', { name: 'Forget… site here' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Forget… site attic' }).click();
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByLabel('Reason').fill('closed');
    await page.getByLabel('Your name').fill('eve');
    await page.getByText('site attic: forgotten').waitFor();
    await page.getByRole('button', { name: 'Forget', exact: true }).click();
    await until(async () => (await page.getByText('Site attic', { exact: true }).count()) === 0);
    expect((await group.config()).sites).toEqual({});
  });

  it('shows each of several leaders, hands one of them over, and shows that change alone', async () => {
    await using group = await Group.found(zookeeper.connectString, { leaders: 3, failback: 'manual' });
    let takenOver = () => {};
    const takeover = new Promise<void>((resolve) => {
      takenOver = resolve;
    });
    const waits = new RecordingWorkload({ takeover: () => takeover });
    for (const name of ['a', 'b', 'c']) await group.start(name, { sessionTimeoutMs }).joined();
    const other = group.start('d', { sessionTimeoutMs, workload: waits });
    await other.joined();
    await using api = await openApi(group, other);
    await using seen = await visit(browser, api.server.url);
    const { page } = seen;
    await page.getByRole('heading', { name: '3 of 3 slots have a leader' }).waitFor();
    const slots = page.locator('.slots li');
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      await slots.nth(index).getByText(`${name} leads`).waitFor();
      await page
        .locator(`[data-node=${name}]`)
        .getByText(`slot ${index + 1} · READY`)
        .waitFor();
      await page.locator('.next').getByText(`If ${name} left now, d would follow`).waitFor();
    }
    await until(async () => (await page.locator('.strip').count()) === 3);
    expect(await page.locator('.row-term').allTextContents()).toContain('slot 2, term 1');

    await page.getByRole('button', { name: 'Switch over…' }).click();
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByLabel('Slot to hand over').selectOption('slot 2: b');
    await page.getByLabel('To', { exact: true }).selectOption('d');
    await page.getByText('Slot 2: d will be elected').waitFor();
    await page.getByLabel('Reason').fill('kernel');
    await page.getByLabel('Your name').fill('eve');
    await page.getByRole('button', { name: 'Switch over', exact: true }).click();
    await page.getByRole('heading', { name: 'Transition, slot 2, term 2' }).waitFor();
    await page.getByText('slot 2: no leader for').waitFor();
    await page.locator('.tone-moving').getByRole('heading', { name: '2 of 3 slots have a leader' }).waitFor();
    expect(await page.locator('.transition').count()).toBe(1);
    await page.locator('[data-node=d]').getByText('slot 2 · PROGRESS').waitFor();
    await page.getByText('Slot 2, term 2: waiting for the outcome.').waitFor();
    takenOver();
    await page.getByText('Slot 2, term 2: d leads.').waitFor();
    await page.locator('.tone-led').getByRole('heading', { name: '3 of 3 slots have a leader' }).waitFor();
    await page.getByText('b → d (planned)').waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  it('says how old it is while the agent is away, or out of touch, and goes on when it is back', async () => {
    await using own = await startDevelopmentServer(patient);
    await using group = await Group.found(own.connectString);
    const leader = await ledOnRecord(group);
    const [port = 0] = await freePorts(1);
    const options = { listen: { host: '127.0.0.1', port } };
    const first = await openApi(group, leader, options);
    await using seen = await visit(browser, first.server.url);
    const { page } = seen;
    await page.getByRole('heading', { name: 'a leads' }).waitFor();
    await first[Symbol.asyncDispose]();
    await page.getByText(/The data is [2-9] s old. The agent does not respond/).waitFor();
    await page.getByRole('heading', { name: 'Last seen: a leads' }).waitFor();
    await using back = await openApi(group, leader, options);
    await page.getByRole('heading', { name: 'a leads', exact: true }).waitFor();
    expect(back.server.readers).toBe(1);
    await own.halt();
    await page.getByText('The agent has lost its connection to ZooKeeper').waitFor();
    await own.restart();
    await page.getByText('live', { exact: true }).waitFor();
  });

  it('shows two hundred nodes on a phone, whatever they are called', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, await ledOnRecord(group));
    const hostile = '<img src=x onerror=alert(1)>';
    const byHand = { by: hostile, reason: hostile, at: '2026-01-01T00:00:00.000Z' };
    const nodes = Array.from({ length: 198 }, (_, n) => `node-with-quite-a-long-name-${n}`);
    for (const name of nodes) {
      const content = { ...registration(name), site: `site${name.length}`, host: hostile };
      await group.store.create(group.paths.node(name), Buffer.from(JSON.stringify(content)), 'ephemeral');
    }
    await group.configure({ drained: { b: byHand }, paused: byHand });
    await using seen = await visit(browser, api.server.url, { viewport: { width: 360, height: 740 } });
    const { page } = seen;
    await page.getByText(`by ${hostile}`).first().waitFor();
    await until(async () => (await page.locator('.card').count()) === 200);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.getByLabel('Find').fill('name-17');
    await until(async () => (await page.locator('.card').count()) === 11);
  });
});
