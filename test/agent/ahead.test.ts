/** Steps that an agent tries before it has read the group. */

import { describe, expect, it } from 'vitest';
import type { Write } from '../../src/embedded/commit.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group, type Member } from '../support/agent-group.js';
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
  // The test deletes the claim by hand, as no operator should. The seat of `a` still exists.
  await group.store.delete(group.paths.current, 'any');
  const claim = await group.ready('b');
  await until(() => a.status.stage === 'released', { timeoutMs: 20_000 });
  await way.heal();
  await until(() => a.status.stage === null, { timeoutMs: 20_000 });
  expect((await group.current())?.stat.czxid).toBe(claim.stat.czxid);
});

describe('an elector that leads, and leaves', () => {
  const toElected = ({ operations }: Write) =>
    operations.some(({ type, path }) => type === 'setData' && path.endsWith('/leader/elected'));

  it('releases nothing before its decision for another stands, if no successor is published', async () => {
    // With an affinity, no successor is published, so the leader needs a decision.
    const affinity = { group: '/elsewhere', where: 'another-node' as const, strength: 'soft' as const };
    await using fixture = await leading({ affinity });
    const { server, group, a } = fixture;
    const decision = server.standStill('arrived', toElected);
    a.agent.stop();
    (await decision).breakOff();
    const again = await server.standStill('arrived', toElected);
    expect(a.recorded.of('release')).toEqual([]);
    again.resume();
    await group.ready('b');
    await a.run;
    expect(a.recorded.of('release').length).toBe(1);
  });

  it('is followed as one that shut down, though its decision was lost at first: the circuit breaker counts no failure', async () => {
    await using fixture = await leading({ circuitBreaker: { transitions: 1, within: '10m', record: null } });
    const { server, group, a } = fixture;
    const decision = server.standStill('arrived', toElected);
    a.agent.stop();
    (await decision).breakOff();
    await group.ready('b');
    await a.run;
    const recorded = await until(async () => {
      const history = await group.history();
      return history.find((one) => one.kind === 'transition' && one.term === 2) ?? null;
    });
    expect(recorded).toMatchObject({ node: 'b', cause: 'shutdown', previous: { node: 'a' } });
    expect((await group.config()).paused).toBe(null);
  });
});

async function leading(
  config: Parameters<typeof Group.found>[1],
): Promise<
  AsyncDisposable & { readonly server: DevelopmentServer; readonly group: Group; readonly a: Member }
> {
  const server = await startDevelopmentServer();
  const group = await Group.found(server.connectString, { failback: 'manual', ...config });
  const [a] = await group.startInOrder(['a', 'b']);
  await group.ready('a');
  if (a === undefined) throw new Error('nobody');
  // A separate commit records READY in the history.
  await until(async () => (await group.history()).length === 1);
  const close = async () => {
    await group[Symbol.asyncDispose]();
    await server.close();
  };
  return { server, group, a, [Symbol.asyncDispose]: close };
}
