/** Pages in a browser that must not fail, nor ask any other host for anything. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

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
