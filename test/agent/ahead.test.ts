/** Steps that are tried before the look. */
import { expect, it } from 'vitest';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

it('who was out of touch gives no claim away before it has looked whose it is', async () => {
  const zooKeeper = await sharedZooKeeper();
  await using way = await startProxy({ target: zooKeeper });
  await using group = await Group.found(zooKeeper, { timeouts: { claim: '1s' }, failback: 'manual' });
  await group.startInOrder(['e'], { priority: 0 });
  const a = group.start('a', { connect: way.address, sessionTimeoutMs: 20_000 });
  await group.ready('a');
  await group.startInOrder(['b']);
  way.blackHole();
  // By hand, as nobody should: a's seat stands.
  await group.store.delete(group.paths.current, 'any');
  const claim = await group.ready('b');
  await until(() => a.status.stage === 'released', { timeoutMs: 20_000 });
  await way.heal();
  await until(() => a.status.stage === null, { timeoutMs: 20_000 });
  expect((await group.current())?.stat.czxid).toBe(claim.stat.czxid);
}, 90_000);
