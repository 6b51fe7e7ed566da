/** Steps that are tried before the look, or before what they follow is answered. */
import { describe, expect, it } from 'vitest';
import type { Write } from '../../src/embedded/standstill.js';
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
  // By hand, as nobody should: a's seat stands.
  await group.store.delete(group.paths.current, 'any');
  const claim = await group.ready('b');
  await until(() => a.status.stage === 'released', { timeoutMs: 20_000 });
  await way.heal();
  await until(() => a.status.stage === null, { timeoutMs: 20_000 });
  expect((await group.current())?.stat.czxid).toBe(claim.stat.czxid);
}, 90_000);

describe('an elector that leads', () => {
  const toElected = ({ operations }: Write) =>
    operations.some(({ type, path }) => type === 'setData' && path.endsWith('/leader/elected'));

  async function leading(): Promise<
    AsyncDisposable & { server: DevelopmentServer; group: Group; a: Member; b: Member }
  > {
    const server = await startDevelopmentServer();
    const group = await Group.found(server.connectString, { failback: 'manual' });
    const [a, b] = await group.startInOrder(['a', 'b']);
    await group.ready('a');
    if (a === undefined || b === undefined) throw new Error('two nodes');
    const close = async () => {
      await group[Symbol.asyncDispose]();
      await server.close();
    };
    return { server, group, a, b, [Symbol.asyncDispose]: close };
  }

  it('and leaves, releases while its decision is on its way', async () => {
    await using scene = await leading();
    const { server, group, a, b } = scene;
    const reached = server.standStill('arrived', toElected);
    a.agent.stop();
    const standstill = await reached;
    await until(() => a.recorded.of('release').length === 1);
    expect((await b.agent.snapshot?.elected.value)?.node).toBe('a');
    standstill.resume();
    await a.run;
    await group.ready('b');
    expect(a.recorded.of('release').length).toBe(1);
  });

  it('and leaves, goes on leaving when that decision never arrives', async () => {
    await using scene = await leading();
    const { server, group, a } = scene;
    const reached = server.standStill('arrived', toElected);
    a.agent.stop();
    const standstill = await reached;
    await until(() => a.recorded.of('release').length === 1);
    standstill.breakOff();
    await group.ready('b');
    await a.run;
    expect(a.recorded.of('release').length).toBe(1);
    expect((await group.elected()).term).toBe(2);
  });

  it('and stays, releases nothing before its decision for another stands', async () => {
    await using scene = await leading();
    const { server, group, a } = scene;
    const reached = server.standStill('arrived', toElected);
    void group.switchover('b');
    const standstill = await reached;
    standstill.breakOff();
    const again = await server.standStill('arrived', toElected);
    expect(a.recorded.of('release').length).toBe(0);
    again.resume();
    await group.ready('b');
  });
});
