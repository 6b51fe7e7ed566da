/** Starts Debian's Chromium without a window. */
import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** PETREL_TEST_CHROMIUM is the path of the browser, or `none` to skip the tests that need one. */
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

export async function launchChromium(): Promise<Browser> {
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
