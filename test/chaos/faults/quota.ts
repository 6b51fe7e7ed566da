/** A quota of the ensemble that the group reaches. */
import { liftQuota, noMoreRoom } from '../../support/quota.js';
import { until } from '../../support/until.js';
import type { World } from '../world.js';
import type { TargetedFault } from './targeted-fault.js';

/** Prepares a quota. It must move no leader, and keep no node from leading. */
export async function quota(world: World): Promise<TargetedFault> {
  const { view, root } = world;
  const withStore = async (act: (store: Awaited<ReturnType<typeof view.store>>) => Promise<unknown>) =>
    await until(async () => act(await view.store()).then(() => true), {
      timeoutMs: 30_000,
      describe: 'a quota',
    });
  return {
    nodes: [],
    slots: [],
    detail: `${root} may have no more znodes than it has`,
    begin: () => withStore((store) => noMoreRoom(store, root)).then(() => undefined),
    end: () => withStore((store) => liftQuota(store, root)).then(() => undefined),
  };
}
