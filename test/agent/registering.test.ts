import { expect, it } from 'vitest';
import { takeSeat } from '../../src/agent/membership.js';
import type { Store } from '../../src/ports/store.js';
import { connect, Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

it('a text too long to keep is cut, written once, and holds up no election', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const [a] = await group.startInOrder(['a']);
  await group.ready('a');
  a?.agent.setHealth(false, 'x'.repeat(10_000));
  await until(async () => (await group.elected()).node === null);
  await until(async () => (await group.current()) === null);
  a?.agent.setHealth(true, 'y'.repeat(10_000));
  await group.ready('a');
  const written = async () => (await group.store.exists(group.paths.node('a')))?.version ?? 0;
  const before = await written();
  expect((await group.store.getData(group.paths.node('a'))).data.length).toBeLessThan(5000);
  await group.startInOrder(['b']);
  await group.switchover('b');
  await group.ready('b');
  // The node writes once for the release and once for the released claim.
  expect((await written()) - before).toBeLessThanOrEqual(3);
});

it('a leader whose name another machine takes says that it leads no longer before its workload is stopped', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const said: boolean[] = [];
  class Watched extends RecordingWorkload {
    override async close(): Promise<boolean> {
      said.push(a.status.leads);
      return await super.close();
    }
  }
  const a = group.start('a', { workload: new Watched() });
  await group.ready('a');
  const other = connect(group.connectString);
  await other.connected();
  const path = group.paths.node('a');
  const { data } = await group.store.getData(path);
  const registration = { ...JSON.parse(data.toString('utf8')), incarnation: 'other', host: 'elsewhere' };
  await other.multi([
    { type: 'delete', path, version: 'any' },
    { type: 'create', path, data: Buffer.from(JSON.stringify(registration)), mode: 'ephemeral' },
  ]);
  // A leader is not woken when its registration is deleted, so wake it by another change.
  await group.configure({ failback: 'manual' });
  await until(() => a.ended !== null);
  expect(String(a.ended?.error)).toContain('is in use');
  expect(said).toEqual([false]);
  expect(a.status.leads).toBe(false);
  await other.close();
});

/** Returns a store whose server has fallen behind: it does not know `directory` until a sync. */
function lagging(store: Store, directory: string): Store {
  let isBehind = true;
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'sync') isBehind = false;
      if (name === 'getChildren' && isBehind) {
        return async (path: string) => {
          const answer = await target.getChildren(path);
          return path === directory ? { ...answer, children: [] } : answer;
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

it('a seat whose making was not answered is found at a server that lags behind', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const { store, paths } = group;
  const made = await takeSeat(store, paths, 'a');
  expect(await takeSeat(lagging(store, paths.election), paths, 'a')).toBe(made);
  expect(await group.seats()).toEqual([made]);
});
