import { inspect } from 'node:util';
import { errorMessage } from '../../src/errors.js';
import { until } from './until.js';

const isLate = (text: string) => text.includes('the module did not respond');

/**
 * Calls `ask` until the rule has answered in time. Returns what `ask` returned, or throws what it threw. A
 * rule must answer within 250 ms. On a busy machine, it can be late although nothing is wrong with it.
 */
export async function answeredInTime<T>(ask: () => Promise<T>): Promise<T> {
  const outcome = await until(async () => {
    const [settled] = await Promise.allSettled([ask()]);
    const said =
      settled.status === 'rejected'
        ? errorMessage(settled.reason)
        : inspect(settled.value, { maxStringLength: Number.POSITIVE_INFINITY });
    return isLate(said) ? null : settled;
  });
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
