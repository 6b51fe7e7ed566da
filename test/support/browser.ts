/** Browser pages that must neither fail nor send requests to any other host. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Requests from the page, oldest first. */
  readonly requests: readonly URL[];
}

/**
 * Opens a fresh page with no stored state. Its disposal fails if an error occurred or the page sent a request
 * to another host.
 */
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
    // Requests that are refused or unanswered are not errors here: the page itself must report them.
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
