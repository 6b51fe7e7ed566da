/**
 * Cuts the leader off at random times. The ensemble grants a much shorter session timeout than the agents
 * request. A leader that relied on the requested timeout would continue for seconds after the next leader is
 * READY.
 */
import { describe, expect, it } from 'vitest';
import { type Cluster, useCluster } from '../support/cluster.js';
import { useServers } from '../support/servers.js';

const grantedMs = 2_000;
const cuts = 5;
const servers = useServers({ maxSessionTimeoutMs: grantedMs }, 'single');
const options = { servers, sites: { a1: 'a', a2: 'a' }, sessionTimeoutMs: 6_000 };

describe('leaders cut off at random moments, their sessions shorter than requested', () => {
  const clusters = [useCluster(options), useCluster(options), useCluster(options)];

  it(`P06 never lead together with their successors, in ${clusters.length * cuts} cuts`, async () => {
    const gapsMs = (await Promise.all(clusters.map(cutAgainAndAgain))).flat().toSorted((a, b) => a - b);
    process.stdout.write(
      `cut off: from the last sign of life to the next takeover, ms: ${gapsMs.join(' ')}\n`,
    );
    expect(gapsMs).toHaveLength(clusters.length * cuts);
    expect(gapsMs[0]).toBeGreaterThan(0);
  });
});

async function cutAgainAndAgain(cluster: Cluster): Promise<number[]> {
  expect(cluster.sessionTimeoutMs).toBe(grantedMs);
  const gapsMs: number[] = [];
  for (let round = 0; round < cuts; round += 1) {
    // On a starved machine, a node may have left because its guardian did not answer. Wait for it, because a
    // cut needs a node that can take over.
    await cluster.settle();
    const old = await cluster.ready();
    await new Promise((resolve) => setTimeout(resolve, Math.random() * grantedMs));
    await using _ = cluster.links(old.node).cut();
    const next = await cluster.ready({ not: old.node });
    const takeover = await cluster.hooked(next.node, 'takeover', 'started', old.token);
    const events = await cluster.hooks.events();
    const last = events.findLast(({ token }) => token === String(old.token));
    gapsMs.push(Math.round((takeover.at - (last?.at ?? 0)) * 1000));
  }
  return gapsMs;
}
