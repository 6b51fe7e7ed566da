/** Agents whose connections to the servers are cut, muted, reset or slow. */
import { describe, expect, it } from 'vitest';
import { type Cluster, useCluster } from '../support/cluster.js';
import { useServers, useSharedServers } from '../support/servers.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';

const servers = useSharedServers();
const sites = { a1: 'a', a2: 'a', b1: 'b' };

describe('in one group', () => {
  const cluster = useCluster({ servers, sites });

  describe('the leader alone', () => {
    it('P05 P11 cut off for longer than its session releases before that ends, and another is READY soon after', async () => {
      const old = await cluster.ready();
      const cutAtS = Date.now() / 1000;
      const sinceCut = startStopwatch();
      await using _ = cluster.links(old.node).cut();
      const next = await cluster.ready({ not: old.node });
      const tookMs = Math.round(sinceCut.ms);
      const takeover = await cluster.hooked(next.node, 'takeover', 'started', old.token);
      // The end of the old leader's release hook. If a starved machine left too little time for the hook,
      // this is the end of the killed workload.
      const last = (await cluster.hooks.events()).findLast(({ token }) => token === String(old.token));
      const releasedMs = Math.round(((last?.at ?? 0) - cutAtS) * 1000);
      process.stdout.write(`cut off: released after ${releasedMs} ms, READY elsewhere after ${tookMs} ms\n`);
      expect(takeover.at - (last?.at ?? 0)).toBeGreaterThan(0);
      expect(releasedMs).toBeLessThan(0.9 * cluster.sessionTimeoutMs);
      expect(tookMs).toBeLessThan(cluster.sessionTimeoutMs + 5_000);
    });

    it('cut off until it has released, but for less than its session, gives up its claim and is led again', async () => {
      const old = await cluster.ready();
      {
        await using _ = cluster.links(old.node).cut();
        await cluster.ended(old);
      }
      const next = await cluster.ready({ after: old.token });
      expect(next.token).toBeGreaterThan(old.token);
    });

    it('P71 that hears nothing, though all it says arrives, releases, and another leads', async () => {
      const old = await cluster.ready();
      const agent = cluster.agent(old.node);
      const heard = agent.log.length;
      await using _ = cluster.links(old.node).cut('toClient');
      const next = await cluster.ready({ not: old.node });
      expect(next.token).toBeGreaterThan(old.token);
      const said = agent.log.slice(heard).map(({ msg }) => msg);
      expect(said).toContainEqual(
        expect.stringMatching(/^releasing: no connection to the ensemble|^lease expired/),
      );
    });
  });

  describe('everybody', () => {
    it('cut off for longer than the sessions leaves nobody leading, and somebody is READY when it is over', async () => {
      const old = await cluster.ready();
      await cutFor(cluster, cluster.nodes, 1.5, async () => {
        await cluster.hooked(old.node, 'release', 'ended', old.token - 1n);
      });
      await cluster.ready({ after: old.token });
    });
  });

  describe('a follower', () => {
    it('that was out of touch when it was elected leads under that decision once it is back', async () => {
      const old = await cluster.ready();
      const [candidate = ''] = cluster.others(old.node, (await cluster.view.seated())[0] ?? '');
      let term = 0;
      {
        await using _ = cluster.links(candidate).cut();
        await cluster.view.switchOver(candidate);
        await until(async () => (await cluster.view.elected()).node === candidate);
        term = (await cluster.view.elected()).term;
        await cluster.hooked(old.node, 'release', 'ended', old.token - 1n);
      }
      expect(await cluster.ready({ node: candidate })).toMatchObject({ term });
    });

    it('cut off for longer than its session has a seat and a registration again as soon as it is back', async () => {
      const leader = await cluster.ready();
      const [follower = ''] = cluster.others(leader.node);
      {
        await using _ = cluster.links(follower).cut();
        await until(async () => !(await cluster.view.seated()).includes(follower));
        expect(await cluster.view.registration(follower)).toBeNull();
      }
      await until(async () => (await cluster.view.seated()).includes(follower));
      expect(await cluster.view.registration(follower)).not.toBeNull();
      expect(await cluster.ready()).toEqual(leader);
    });
  });
});

// Uses sessions that no busy machine loses, because leadership must not move in these tests.
describe('with longer sessions', () => {
  const patient = useServers({ maxSessionTimeoutMs: 60_000 });
  const cluster = useCluster({ servers: patient, sites, sessionTimeoutMs: 9_000 });

  it('a leader cut off for a tenth of its session goes on leading under its token', async () => {
    const old = await cluster.ready();
    await cutFor(cluster, [old.node], 0.1);
    expect(await cluster.ready()).toEqual(old);
  });

  it('everybody cut off for a tenth of the sessions moves nothing', async () => {
    const old = await cluster.ready();
    await cutFor(cluster, cluster.nodes, 0.1);
    expect(await cluster.ready()).toEqual(old);
  });

  it('everybody whose connections are reset, again and again, moves nothing', async () => {
    const old = await cluster.ready();
    for (let round = 0; round < 5; round += 1) {
      for (const node of cluster.nodes) cluster.links(node).reset();
      await until(() => cluster.nodes.every((node) => cluster.links(node).server !== undefined));
    }
    expect(await cluster.ready()).toEqual(old);
  });

  it('a leader whose answers come late goes on leading', async () => {
    const old = await cluster.ready();
    cluster.links(old.node).delay(cluster.sessionTimeoutMs / 40);
    await new Promise((resolve) => setTimeout(resolve, cluster.sessionTimeoutMs));
    expect(await cluster.ready()).toEqual(old);
  });
});

/** Cuts the nodes off for this share of the session timeout. */
async function cutFor(
  cluster: Cluster,
  nodes: readonly string[],
  share: number,
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  const healAtMs = performance.now() + share * cluster.sessionTimeoutMs;
  const cuts = nodes.map((node) => cluster.links(node).cut());
  try {
    await meanwhile();
    await new Promise((resolve) => setTimeout(resolve, healAtMs - performance.now()));
  } finally {
    await Promise.all(cuts.map((cut) => cut[Symbol.asyncDispose]()));
  }
}
