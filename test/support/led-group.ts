/**
 * A group of two whose first leads, for tests that are not about leases: none should end on a machine that is
 * busy.
 */
import type { Group, Member } from './agent-group.js';
import { until } from './until.js';

export const sessionTimeoutMs = 60_000;
/** What the server has to allow for that. */
export const patient = { maxSessionTimeoutMs: sessionTimeoutMs };

export async function led(group: Group): Promise<Member> {
  const [a] = await group.startInOrder(['a', 'b'], { sessionTimeoutMs });
  if (a === undefined) throw new Error('two were started');
  await group.ready('a');
  return a;
}

/** The same once the history tells of it. */
export async function ledOnRecord(group: Group): Promise<Member> {
  const a = await led(group);
  await until(async () => (await group.history()).length === 1);
  return a;
}
