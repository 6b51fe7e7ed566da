import { beforeAll, describe, expect, it } from 'vitest';
import { Petrel } from '../../src/library/petrel.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { untilAborted } from '../support/node.js';
import { freePorts } from '../support/ports.js';
import { startProxy, type TcpProxy } from '../support/proxy.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';

let zooKeeper = '';

beforeAll(async () => {
  zooKeeper = await sharedZooKeeper();
});

/** Returns the number of active resources of this process, by kind, once short-lived ones have ended. */
async function resources(): Promise<Map<string, number>> {
  await new Promise((resolve) => setImmediate(resolve));
  const kinds = process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate');
  return new Map([...new Set(kinds)].map((kind) => [kind, kinds.filter((one) => one === kind).length]));
}

/** Runs `life`, which joins a group and closes. Waits until no more handles are open than before. */
async function leavesNothing(life: () => Promise<void>): Promise<void> {
  const before = await resources();
  await life();
  await until(
    async () => {
      const more = [...(await resources())].filter(([kind, count]) => count > (before.get(kind) ?? 0));
      if (more.length > 0) throw new Error(`still open: ${JSON.stringify(more)}`);
      return true;
    },
    { describe: 'every handle to be released' },
  );
}

interface Node extends AsyncDisposable {
  readonly petrel: Petrel;
  readonly proxy: TcpProxy;
}

async function leader(sessionTimeout = '4s'): Promise<Node> {
  const proxy = await startProxy({ target: zooKeeper });
  const petrel = await Petrel.join({
    zookeeper: proxy.address,
    root: uniqueRoot(),
    nodeId: 'a',
    sessionTimeout,
  });
  petrel.lead(untilAborted);
  await until(() => petrel.leads, { timeoutMs: 20_000 });
  return { petrel, proxy, [Symbol.asyncDispose]: () => proxy.stop() };
}

describe('close releases every handle', () => {
  it('before the first connection', async () => {
    const [port] = await freePorts(1);
    await leavesNothing(async () => {
      const stop = new AbortController();
      const joining = Petrel.join({ zookeeper: `127.0.0.1:${port}`, signal: stop.signal });
      stop.abort(new Error('enough'));
      await expect(joining).rejects.toThrow('enough');
    });
  });

  it('while it connects to a server that says nothing', async () => {
    await leavesNothing(async () => {
      await using proxy = await startProxy({ target: zooKeeper });
      proxy.blackHole();
      const stop = new AbortController();
      const joining = Petrel.join({ zookeeper: proxy.address, sessionTimeout: '2s', signal: stop.signal });
      await until(() => proxy.accepted > 0);
      stop.abort(new Error('enough'));
      await expect(joining).rejects.toThrow('enough');
    });
  });

  it('while it is a standby', async () => {
    await leavesNothing(async () => {
      const petrel = await Petrel.join({
        zookeeper: zooKeeper,
        root: uniqueRoot(),
        nodeId: 'a',
      });
      await petrel.close();
    });
  });

  it('while it is elected and waits for work', async () => {
    await leavesNothing(async () => {
      await using group = await Group.found(zooKeeper);
      await using petrel = await Petrel.join({ zookeeper: zooKeeper, root: group.root, nodeId: 'a' });
      await group.switchover('a', true);
      await until(async () => (await group.elected()).node === 'a');
      await petrel.close();
    });
  });

  it('while it leads', async () => {
    await leavesNothing(async () => {
      const petrel = await Petrel.join({ zookeeper: zooKeeper, root: uniqueRoot(), nodeId: 'a' });
      petrel.lead(untilAborted);
      await until(() => petrel.leads, { timeoutMs: 20_000 });
      await petrel.close();
    });
  });

  it('while it leads and ZooKeeper is out of reach', async () => {
    await leavesNothing(async () => {
      await using node = await leader();
      node.proxy.refuse();
      node.proxy.resetAll();
      await node.petrel.close();
      expect(node.petrel.leads).toBe(false);
    });
  });

  it('while it leads and ZooKeeper does not answer', async () => {
    await leavesNothing(async () => {
      await using node = await leader('2s');
      node.proxy.blackHole();
      await node.petrel.close();
      expect(node.petrel.leads).toBe(false);
    });
  });

  it('after its session was lost, while ZooKeeper is out of reach', async () => {
    await leavesNothing(async () => {
      await using node = await leader('2s');
      node.proxy.refuse();
      node.proxy.resetAll();
      const lostAtMs = performance.now();
      await until(() => performance.now() - lostAtMs > 3000);
      await node.petrel.close();
    });
  });

  it('by `await using`, and called twice and at once', async () => {
    await leavesNothing(async () => {
      await using petrel = await Petrel.join({ zookeeper: zooKeeper, root: uniqueRoot() });
      petrel.lead(untilAborted);
      await until(() => petrel.leads);
      await Promise.all([petrel.close(), petrel.close()]);
    });
  });

  it('after it failed', async () => {
    await leavesNothing(async () => {
      const options = { zookeeper: zooKeeper, root: uniqueRoot(), nodeId: 'a' };
      await using _first = await Petrel.join(options);
      await expect(Petrel.join(options)).rejects.toThrow('in use');
    });
  });
});

it('close takes no longer than two session timeouts, even when ZooKeeper is out of reach', async () => {
  await using node = await leader('4s');
  node.proxy.refuse();
  node.proxy.resetAll();
  const sinceAsked = startStopwatch();
  await node.petrel.close();
  expect(sinceAsked.ms).toBeLessThan(8500);
});
