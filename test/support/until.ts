/**
 * Waits for a condition instead of a fixed time. Polls, because the state that tests wait for is in other
 * processes that send no notification. Does not promise anything about the time between two polls.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { errorMessage } from '../../src/errors.js';
import { startStopwatch } from './stopwatch.js';

export interface UntilOptions {
  /**
   * Time after which the wait fails, measured by `stopwatch.ts`. The default of 20 s is generous, because
   * only a failing test waits that long. It is less than the 30 s after which an agent re-reads its state,
   * because that would hide a missed notification.
   */
  readonly timeoutMs?: number;
  /**
   * Pause between polls. The default is 20 ms at first, and later a twentieth of the wait so far, up to 100
   * ms.
   */
  readonly intervalMs?: number;
  /** The condition that the test waits for, for the message of a failure. A function is called only then. */
  readonly describe?: string | (() => string);
}

/**
 * Calls `probe` until it returns something other than false, null or undefined, and returns that value. If
 * `probe` throws, it is called again. At the timeout, throws an error with the last result.
 */
export async function until<T>(
  probe: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const { timeoutMs = 20_000, intervalMs, describe = 'the condition' } = options;
  using stopwatch = startStopwatch();
  for (;;) {
    const attempt = await tryOnce(probe);
    if (attempt.succeeded) return attempt.value;
    if (stopwatch.ms >= timeoutMs) {
      const condition = typeof describe === 'string' ? describe : describe();
      throw new Error(`waited ${timeoutMs} ms for ${condition}; the last look ${attempt.saw}`, {
        cause: attempt.cause,
      });
    }
    await sleep(intervalMs ?? Math.min(100, Math.max(20, stopwatch.ms / 20)));
  }
}

type Attempt<T> =
  | { readonly succeeded: true; readonly value: Exclude<T, false | null | undefined> }
  | { readonly succeeded: false; readonly saw: string; readonly cause?: unknown };

async function tryOnce<T>(probe: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    const value = await probe();
    if (isSuccess(value)) return { succeeded: true, value };
    return { succeeded: false, saw: `gave ${inspect(value)}` };
  } catch (error) {
    return { succeeded: false, saw: `failed: ${errorMessage(error)}`, cause: error };
  }
}

function isSuccess<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined;
}
