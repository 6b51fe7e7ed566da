/** Debian's Chromium, without a window, and pages in it that must not fail or ask any other host for anything. */
import { accessSync, constants } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** Where it is, or `none`: then what wants it is left out. */
const wish = process.env.PETREL_TEST_CHROMIUM ?? '/usr/bin/chromium';
export const leavesOutChromium = wish === 'none';
export const notHere = leavesOutChromium ? ' (left out: PETREL_TEST_CHROMIUM is none)' : '';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function openBrowser(): Promise<Browser> {
  try {
    accessSync(wish, constants.X_OK);
  } catch (error) {
    throw new Error(
      `there is no ${wish}: on Debian, apt-get install --no-install-recommends chromium; or say where one is, or none, by PETREL_TEST_CHROMIUM`,
      { cause: error },
    );
  }
  return await chromium.launch({ executablePath: wish, args: flags });
}

export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** What it asked for, in order. */
  readonly requests: readonly URL[];
}

/** A page of its own, without a memory. Its end fails where an error came up, or another host was asked. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const requests: URL[] = [];
  const errors: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url())));
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => {
    // That an answer is a refusal, or that there is none, is for the page to say.
    const isOfNetwork = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isOfNetwork) errors.push(message.text());
  });
  await page.goto(url);
  return {
    page,
    requests,
    async [Symbol.asyncDispose]() {
      await context.close();
      expect(errors).toEqual([]);
      expect(requests.filter(({ host }) => host !== new URL(url).host)).toEqual([]);
    },
  };
}
