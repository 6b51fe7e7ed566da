import { describe, expect, it } from 'vitest';
import { newRegistration } from '../../src/model/registration.js';
import type { Store } from '../../src/ports/store.js';
import { connect, Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { until } from '../support/until.js';

/** Registers a node and takes a seat for it. The node then does nothing. */
async function ghost(group: Group, node: string): Promise<Store> {
  const store = connect(group.connectString);
  await store.connected();
  const host = { name: 'elsewhere', pid: 1 };
  const described = { node, site: 'here', priority: 0, tags: {}, strategies: {}, version: 'test', host };
  const registration = newRegistration(described, { incarnation: node, startedAt: new Date().toISOString() });
  await store.create(group.paths.node(node), Buffer.from(JSON.stringify(registration)), 'ephemeral');
  await store.create(group.paths.seatPrefix(node), Buffer.from(node), 'ephemeral-sequential');
  return store;
}

/**
 * A timeout for the elector watchdog, which checks every ten seconds. A node notices within thirty seconds
 * that it is the next elector.
 */
const patienceMs = 90_000;

describe.concurrent('an elector that stays silent', () => {
  it('that is the first is unseated by the next elector', { timeout: 2 * patienceMs }, async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const silent = await ghost(group, 'silent');
    const [a] = await group.startInOrder(['a', 'b'], { sessionTimeoutMs: 1000 });
    await group.ready('a', patienceMs);
    expect((await group.seats()).some((seat) => seat.startsWith('silent-'))).toBe(false);
    expect(a?.status.elector).toBe(true);
    await silent.close();
  });

  it('that came to it by another’s leaving is, too', { timeout: 2 * patienceMs }, async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const first = await ghost(group, 'first');
    const silent = await ghost(group, 'silent');
    await group.startInOrder(['a'], { sessionTimeoutMs: 1000 });
    await first.close();
    await until(async () => (await group.seats()).length === 2);
    await group.ready('a', patienceMs);
    expect((await group.seats()).some((seat) => seat.startsWith('silent-'))).toBe(false);
    await silent.close();
  });
});
