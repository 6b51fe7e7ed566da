/**
 * Servers that are killed, frozen, restarted, or cut off from one another while agents stay connected to
 * them.
 */
import { describe, expect, it } from 'vitest';
import { type Cluster, useCluster } from '../support/cluster.js';
import { supportsEnsemble, type TestServer } from '../support/ensemble.js';
import type { Leader } from '../support/group-view.js';
import { type Servers, useServers } from '../support/servers.js';
import { until } from '../support/until.js';

const sites = { a1: 'a', a2: 'a', b1: 'b' };
const sessionTimeoutMs = 2_000;

describe('a single server', () => {
  const servers = useServers({}, 'single');
  const cluster = useCluster({ servers, sites, sessionTimeoutMs });

  it('killed and restarted within the sessions leaves a READY leader', async () => {
    const [server] = servers.all;
    await server?.kill9();
    await server?.restart();
    await cluster.ready();
  });

  it('frozen until the leader has released leaves nobody leading until it goes on', async () => {
    const old = await cluster.ready();
    const [server] = servers.all;
    await server?.pause();
    try {
      await cluster.ended(old);
    } finally {
      await server?.resume();
    }
    await cluster.ready({ after: old.token });
  });

  it('stopped for longer than the sessions leaves nobody leading until it is back', async () => {
    const old = await cluster.ready();
    const [server] = servers.all;
    await server?.kill9();
    await cluster.ended(old);
    await Promise.all(cluster.nodes.map((node) => cluster.agent(node).logged(/session lost/)));
    await server?.restart();
    await cluster.ready({ after: old.token });
  });
});

const ensembles = supportsEnsemble ? '' : ' (not here: this kind of ZooKeeper is a single server)';

/**
 * Number of ticks for which a server that is cut off from the others still serves its clients. This is longer
 * than a session lasts.
 */
const syncLimitTicks = 24;

/**
 * Sync limit that is longer than any test may take, so that the behaviour of a server cannot depend on the
 * speed of the machine.
 */
const endlessTicks = 2_400;

describe.skipIf(!supportsEnsemble)(`an ensemble${ensembles}`, () => {
  const servers = useServers({ syncLimitTicks, jvmFlags: ['-Dzookeeper.cnxTimeout=500'] });

  describe('one of three servers', () => {
    const cluster = useCluster({ servers, sites, sessionTimeoutMs });

    it('the ensemble’s leader, killed: somebody is READY again', async () => {
      const server = await servers.ensemble.leader();
      await server.kill9();
      await servers.ensemble.leader();
      await cluster.ready();
      await server.restart();
    });

    it('the ensemble’s leader, frozen: somebody is READY again', async () => {
      const server = await servers.ensemble.leader();
      await frozen(server, async () => {
        await until(async () => (await otherLeader(servers, server)) !== undefined, { timeoutMs: 20_000 });
        await cluster.ready();
      });
    });

    it('each in turn restarted in order', async () => {
      for (const server of servers.all) await server.restart();
      await cluster.ready();
    });

    it('all of them killed for longer than the sessions, then started: exactly one leads', async () => {
      const old = await cluster.ready();
      await Promise.all(servers.all.map((server) => server.kill9()));
      await cluster.ended(old);
      await Promise.all(cluster.nodes.map((node) => cluster.agent(node).logged(/session lost/)));
      await servers.ensemble.restart();
      await cluster.ready({ after: old.token });
    });

    it('cut off from the others, which led the ensemble, the leader connected to it: somebody is READY again', async () => {
      const old = await cluster.ready();
      const server = await serverOf(servers, cluster, old.node, 'leader');
      await servers.ensemble.isolate(servers.all.indexOf(server));
      try {
        await cluster.ended(old);
        await cluster.ready({ after: old.token });
      } finally {
        await servers.ensemble.heal();
      }
      await servers.ensemble.ready();
    });
  });

  describe('the server that the leader is connected to', () => {
    const cluster = useCluster({ servers, sites, sessionTimeoutMs: 5_000 });

    it('killed: it goes on leading at another', async () => {
      const old = await settledLeader(cluster);
      const server = await serverOf(servers, cluster, old.node, 'follower');
      const index = servers.all.indexOf(server);
      await server.kill9();
      try {
        await until(() => ![undefined, index].includes(cluster.links(old.node).server));
        expect(await cluster.ready()).toEqual(old);
      } finally {
        await server.restart();
      }
    });

    it('frozen: it goes on leading at another', async () => {
      const old = await settledLeader(cluster);
      const server = await serverOf(servers, cluster, old.node, 'follower');
      const agent = cluster.agent(old.node);
      const heard = agent.log.length;
      await frozen(server, async () => {
        await agent.logged(/unreachable/, { after: heard });
        await agent.logged(/session connected/, { after: heard });
      });
      expect(await cluster.ready()).toEqual(old);
    });

    it('cut off from the others: it goes on leading at another', async () => {
      const old = await settledLeader(cluster);
      const index = servers.all.indexOf(await serverOf(servers, cluster, old.node, 'follower'));
      await servers.ensemble.isolate(index);
      try {
        await until(() => ![undefined, index].includes(cluster.links(old.node).server));
        expect(await cluster.ready()).toEqual(old);
      } finally {
        await servers.ensemble.heal();
      }
      await servers.ensemble.ready();
    });
  });
});

describe.skipIf(!supportsEnsemble)(`an ensemble whose servers serve on while cut off${ensembles}`, () => {
  const servers = useServers({ syncLimitTicks: endlessTicks, jvmFlags: ['-Dzookeeper.cnxTimeout=500'] });
  const cluster = useCluster({ servers, sites, sessionTimeoutMs });

  it('cut off from the others, the leader connected to it alone: that releases by its lease, and another leads, while it still serves', async () => {
    const old = await cluster.ready();
    const server = await serverOf(servers, cluster, old.node, 'follower');
    const index = servers.all.indexOf(server);
    // The next leader must be connected to a different server. On this one, which never stops answering, a
    // standby would not notice the cut, because it only reads.
    const ways = cluster.nodes.map((node) => {
      return cluster.links(node).keepOnly(node === old.node ? index : anotherThan(index));
    });
    ways.push(cluster.viewLinks.keepOnly(anotherThan(index)));
    try {
      await servers.ensemble.isolate(index);
      await cluster.ready({ not: old.node });
      await stillServes(server, 'follower');
      expect(await cluster.hooks.living()).not.toContainEqual(
        expect.objectContaining({ node: old.node, token: `${old.token}` }),
      );
    } finally {
      await servers.ensemble.heal();
      await Promise.all(ways.map((way) => way[Symbol.asyncDispose]()));
    }
    await server.restart();
  });

  it('cut off while it led the ensemble, and answering handshakes long after another does', async () => {
    const old = await cluster.ready();
    const stale = await serverOf(servers, cluster, old.node, 'leader');
    const index = servers.all.indexOf(stale);
    const others = servers.all.filter((server) => server !== stale);
    const other = anotherThan(index);
    const ways = cluster.nodes.map((node) => cluster.links(node).keepOnly(node === old.node ? index : other));
    ways.push(cluster.viewLinks.keepOnly(other));
    const resets = setInterval(() => cluster.links(old.node).reset(), 0.4 * sessionTimeoutMs);
    try {
      await servers.ensemble.isolate(index);
      await Promise.all(others.map((server) => server.restart({ waitUntilReady: false })));
      await until(() => otherLeader(servers, stale), { timeoutMs: 20_000 });
      await stillServes(stale, 'leader');
      await cluster.ready({ not: old.node });
    } finally {
      clearInterval(resets);
      await servers.ensemble.heal();
      await Promise.all(ways.map((way) => way[Symbol.asyncDispose]()));
    }
    await stale.restart();
  });

  function anotherThan(index: number): number {
    return (index + 1) % servers.all.length;
  }
});

/** Returns a leader whose lease has reached its usual age. */
async function settledLeader(cluster: Cluster): Promise<Leader> {
  const leader = await cluster.ready();
  await new Promise((resolve) => setTimeout(resolve, cluster.sessionTimeoutMs / 2));
  return leader;
}

/**
 * Returns the server that a node is connected to. Reconnects the node until that server has the wanted role
 * in the ensemble.
 */
async function serverOf(
  servers: Servers,
  cluster: Cluster,
  node: string,
  part: 'leader' | 'follower',
): Promise<TestServer> {
  const links = cluster.links(node);
  return until(
    async () => {
      const server = links.server === undefined ? undefined : servers.all[links.server];
      if (server === undefined) return null;
      if ((await server.isLeader()) === (part === 'leader')) return server;
      links.reset();
      await until(() => links.server !== undefined);
      return null;
    },
    { describe: `${node} to be connected to a ${part}` },
  );
}

async function otherLeader(servers: Servers, than: TestServer): Promise<TestServer | undefined> {
  const others = servers.all.filter((server) => server !== than);
  const leads = await Promise.all(others.map((server) => server.isLeader()));
  return others.find((_, index) => leads[index]);
}

/**
 * Waits until a server reports its role. Retries, because a slow machine may not answer immediately. The
 * answer cannot change before the sync limit ends.
 */
async function stillServes(server: TestServer, part: 'leader' | 'follower'): Promise<void> {
  await until(async () => (await server.fourLetterWord('srvr')).includes(`Mode: ${part}`));
}

async function frozen(server: TestServer, meanwhile: () => Promise<void>): Promise<void> {
  await server.pause();
  try {
    await meanwhile();
  } finally {
    await server.resume();
    await server.ready();
  }
}
