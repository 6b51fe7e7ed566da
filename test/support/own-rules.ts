/**
 * User-defined rules must answer within 250 ms. On a busy machine, a rule can be late although nothing is
 * wrong with it. These functions repeat what a late answer has spoilt, and nothing else.
 */
import { inspect } from 'node:util';
import { errorMessage } from '../../src/errors.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import { Group } from './agent-group.js';
import { sharedZooKeeper } from './ensemble.js';
import { until } from './until.js';

/** Number of times that a case is run. More late answers than that are a fault. */
const mostRuns = 3;

const isLate = (text: string) => text.includes('the module did not respond');

/** Calls `ask` until the rule has answered in time. Returns what `ask` returned, or throws what it threw. */
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

/**
 * Runs a case. If it fails after a rule was late, runs it again, because an elector may then have decided
 * without the rule. The case passes a function that returns the log messages of its agents.
 */
export async function againIfLate(
  check: (hear: (messages: () => readonly string[]) => void) => Promise<void>,
): Promise<void> {
  for (let run = 1; ; run++) {
    const heard: (() => readonly string[])[] = [];
    try {
      return await check((messages) => heard.push(messages));
    } catch (error) {
      if (run === mostRuns || !heard.some((messages) => messages().some(isLate))) throw error;
    }
  }
}

/** Like `againIfLate`, for agents in the test's process. Each run has a new group. */
export async function inGroup(
  config: Partial<GroupConfig> | Record<string, unknown>,
  check: (group: Group) => Promise<void>,
): Promise<void> {
  await againIfLate(async (hear) => {
    await using group = await Group.found(await sharedZooKeeper(), config);
    hear(() => group.members.flatMap(({ log }) => log));
    await check(group);
  });
}
