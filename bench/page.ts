/**
 * Measures the size of the status page and how soon a browser shows it. The times run from the start of the
 * navigation to the first contentful paint, and to the display of all nodes. The browser cache is empty. Uses
 * a built agent and Petrel's development ZooKeeper.
 *
 *   npm run bench:page             five visits each at 2 and at 200 nodes, half a minute
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { DevAgents } from '../src/dev/agents.js';
import { devHttp } from '../src/dev/http.js';
import { groupPaths } from '../src/model/paths.js';
import { startDevelopmentServer } from '../src/testing.js';
import { openStore, parseConnectionString } from '../src/zookeeper/index.js';
import { registration } from '../test/core/builders.js';
import { buildCommandLine } from '../test/support/build.js';
import { launchChromium } from '../test/support/chromium.js';
import { until } from '../test/support/until.js';

const visits = 5;
const sites = { a1: 'a', b1: 'b' };
const timesSchema = z.object({ paintMs: z.number(), shownMs: z.number() });

const main = await buildCommandLine();
const dir = await mkdtemp(join(tmpdir(), 'petrel-bench-page-'));
const zookeeper = await startDevelopmentServer();
const http = await devHttp(Object.keys(sites), 0, dir);
const agents = new DevAgents({
  petrel: [process.execPath, main],
  sites,
  flags: ['--zookeeper', zookeeper.connectString, '--state-dir', join(dir, 'state'), '--log-level', 'fatal'],
  flagsOf: http.flagsOf,
  output: 'ignore',
});
const store = openStore({
  servers: parseConnectionString(zookeeper.connectString),
  sessionTimeoutMs: 30_000,
});
const url = http.urlOf('b1');
try {
  const browser = await launchChromium();
  try {
    agents.startAll();
    await until(async () => (await (await fetch(`${url}/status`)).text()).includes('"READY"'), {
      timeoutMs: 60_000,
    });
    console.log(`compressed: ${await weight()} bytes`);
    await measure(browser, 2);
    await register(198);
    await measure(browser, 200);
  } finally {
    await browser.close();
  }
} finally {
  await store.close({ timeoutMs: 500 });
  await agents[Symbol.asyncDispose]();
  await zookeeper.close();
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
}

/** Returns the size of the page on the wire. */
async function weight(): Promise<number> {
  const html = await (await fetch(url)).text();
  const parts = ['', ...[...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)];
  const sizes = parts.map(async (part) => {
    const answer = await fetch(`${url}/${part}`);
    await answer.arrayBuffer();
    return Number(answer.headers.get('content-length'));
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function register(count: number): Promise<void> {
  const paths = groupPaths('/cluster');
  await store.connected();
  for (let n = 0; n < count; n++) {
    const name = `c${n}`;
    await store.create(paths.node(name), Buffer.from(JSON.stringify(registration(name))), 'ephemeral');
  }
}

async function measure(browser: Browser, nodes: number): Promise<void> {
  const measured = [];
  for (let n = 0; n < visits; n++) measured.push(await visit(browser, nodes));
  const summary = (values: readonly number[]) => `median ${median(values)} ms (${values.join(', ')})`;
  console.log(`${nodes} nodes: first contentful paint ${summary(measured.map(({ paintMs }) => paintMs))}`);
  console.log(`${nodes} nodes: all shown ${summary(measured.map(({ shownMs }) => shownMs))}`);
}

async function visit(browser: Browser, nodes: number) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'commit' });
    const times = await page.evaluate(`new Promise((resolve) => {
      const look = () => {
        const [paint] = performance.getEntriesByName('first-contentful-paint');
        const isShown = document.querySelectorAll('.card').length >= ${nodes};
        if (paint === undefined || !isShown) requestAnimationFrame(look);
        else resolve({ paintMs: Math.round(paint.startTime), shownMs: Math.round(performance.now()) });
      };
      look();
    })`);
    return timesSchema.parse(times);
  } finally {
    await context.close();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
