/**
 * Fault A5 (docs/reports/faults.md): a group under a quota of the ensemble, on a server that enforces quotas.
 * Petrel's own server does not support them.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Author, changeGroup } from '../../src/group/change.js';
import { assign } from '../../src/group/config-keys.js';
import { evict } from '../../src/group/evict.js';
import { pauseGroup, resumeGroup } from '../../src/group/pause.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store.js';
import { builtInRules } from '../../strategies/index.js';
import { connect, Group } from '../support/agent-group.js';
import type { TestServer } from '../support/ensemble.js';
import { led } from '../support/led-group.js';
import { LossyWay } from '../support/lost-reply.js';
import { noMoreRoom } from '../support/quota.js';
import { until } from '../support/until.js';
import { javaIsMissing, startJavaServer } from '../support/zookeeper/java.js';

const author: Author = { by: 'ops', reason: null };

describe.skipIf(javaIsMissing() !== undefined)('under a quota', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startJavaServer({ extraConfig: ['enforceQuota=true'] });
  });
  afterAll(async () => {
    await server?.stop();
  });

  const found = () => Group.found(server.connectString, { failback: 'manual' });

  it('A5 the oldest records give way, and the new ones are written', async () => {
    await using group = await found();
    const leader = await led(group);
    await until(async () => (await group.history()).length === 1);
    await noMoreRoom(group.store, group.root);

    expect((await pause(group, group.store)).what).toBe('paused');
    expect((await group.config()).paused).not.toBeNull();
    await changeGroup(accessOf(group), author, resumeGroup);
    leader.agent.setHealth(false, 'disk full');
    await group.ready('b');
    await until(async () =>
      (await group.history()).some((one) => one.kind === 'transition' && one.node === 'b'),
    );
  });

  it('A5 a node that comes back finds room', async () => {
    await using group = await found();
    await led(group);
    await until(async () => (await group.history()).length === 1);
    await pause(group, group.store);
    await noMoreRoom(group.store, group.root);
    const c = group.start('c');
    await c.joined();
    expect(await group.history()).toEqual([]);
  });

  it('A5 what cannot be recorded is done all the same, and says so', async () => {
    await using group = await found();
    const leader = await led(group);
    await until(async () => (await group.history()).length === 1);
    await noRecords(group);
    await noMoreRoom(group.store, group.root);

    const { what, version } = await pause(group, group.store);
    expect(what).toBe(`paused; not recorded in the history: quota reached at ${group.paths.historyPrefix}`);
    expect((await group.store.exists(group.paths.config))?.version).toBe(version);
    const smaller = await changeGroup(accessOf(group), author, assign([{ key: 'historySize', text: '5' }]));
    expect(smaller.what).toContain('not recorded in the history');
    await changeGroup(accessOf(group), author, resumeGroup);

    leader.agent.setHealth(false, 'disk full');
    await group.ready('b');
    const said = () =>
      group.members.flatMap(({ log }) => log).filter((line) => line.includes('not recorded in the history'));
    await until(() => said().length > 0);
    expect(said()[0]).toContain(`quota reached at ${group.paths.historyPrefix}`);
    const evicted = await evict(accessOf(group), author, { node: 'a', dead: false });
    expect(evicted.unrecorded).toBe(`quota reached at ${group.paths.historyPrefix}`);
    expect(await group.history()).toEqual([]);
  });

  it('A5 a lost reply to what was not recorded is settled by the configuration', async () => {
    await using group = await found();
    await noMoreRoom(group.store, group.root);
    await using way = await LossyWay.to(server.connectString);
    const store = connect(way.address);
    try {
      await store.connected({ timeoutMs: 20_000 });
      const lost = way.loseReplyTo(
        (request) => request.includes('"paused"') && !request.includes(group.paths.historyPrefix),
      );
      const pausing = pause(group, store);
      await lost;
      await way.breakAndHeal();
      expect(await pausing).toMatchObject({ what: 'paused; not recorded in the history: quota reached' });
      expect((await group.store.exists(group.paths.config))?.version).toBe((await pausing).version);
    } finally {
      await store.close();
    }
  });
});

function accessOf({ store, paths }: Group, through: Store = store) {
  return { store: through, paths, rules: builtInRules, clock: systemClock };
}

function pause(group: Group, through: Store) {
  return changeGroup(accessOf(group, through), author, pauseGroup);
}

async function noRecords(group: Group): Promise<void> {
  const { children } = await group.store.getChildren(group.paths.history);
  await Promise.all(children.map((name) => group.store.delete(group.paths.historyRecord(name), 'any')));
}
