/**
 * A group of two nodes whose first node leads, for tests that are not about leases. The session timeout is so
 * long that no lease ends on a busy machine.
 */
import type { Group, Member } from './agent-group.js';
import { until } from './until.js';

export const sessionTimeoutMs = 60_000;
/** Server options that allow this session timeout. */
export const patient = { maxSessionTimeoutMs: sessionTimeoutMs };

export async function led(group: Group): Promise<Member> {
  const [a] = await group.startInOrder(['a', 'b'], { sessionTimeoutMs });
  if (a === undefined) throw new Error('two were started');
  await group.ready('a');
  return a;
}

/** Does the same as `led`, and waits until the history records the transition. */
export async function ledOnRecord(group: Group): Promise<Member> {
  const a = await led(group);
  await until(async () => (await group.history()).length === 1);
  return a;
}
