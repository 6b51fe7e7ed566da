/**
 * Tests each essential feature of Petrel once, with agents in separate processes, on the best ZooKeeper
 * available. After each test `useCluster` asserts that no two workloads were ever active at the same time.
 */
import { describe, expect, it } from 'vitest';
import { runProcess } from '../support/agents.js';
import { useCluster } from '../support/cluster.js';
import { supportsEnsemble } from '../support/ensemble.js';
import { useServers } from '../support/servers.js';
import { until } from '../support/until.js';

const servers = useServers();
const cluster = useCluster({ servers, sites: { a1: 'a', a2: 'a', b1: 'b' } });

async function petrel(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProcess(args, {
    PETREL_ZOOKEEPER: servers.connectString,
    PETREL_ROOT: cluster.root,
  });
  expect(code, stderr).toBe(0);
  return stdout;
}

describe('a planned handover', () => {
  it('ends the release before the takeover begins, under a greater token', async () => {
    const old = await cluster.ready();
    const [next = ''] = cluster.others(old.node);
    await petrel('switchover', '--to', next, '--yes');
    const leader = await cluster.ready({ node: next });
    expect(leader.token).toBeGreaterThan(old.token);
    const events = await cluster.hooks.events();
    const at = (node: string, phase: string, event: string, token: bigint) =>
      events.findIndex((one) => {
        return one.node === node && one.phase === phase && one.event === event && one.token === String(token);
      });
    const released = at(old.node, 'release', 'ended', old.token);
    expect(released).toBeGreaterThanOrEqual(0);
    expect(at(next, 'takeover', 'started', leader.token)).toBeGreaterThan(released);
  });

  it('follows from maintenance of a site, and the decision says so', async () => {
    const old = await cluster.ready();
    const site = old.node.slice(0, 1);
    await petrel('site', 'priority', site, '0', '--for', '10m', '--reason', 'switch replacement', '--yes');
    const leader = await until(async () => {
      const next = await cluster.ready();
      return next.node.startsWith(site) ? null : next;
    });
    expect(JSON.parse(await petrel('list', '-f', 'json'))).toMatchObject({
      leader: { node: leader.node, status: 'READY' },
    });
  });

  it('happens when the leader’s agent is asked to leave', async () => {
    const old = await cluster.ready();
    const agent = cluster.agent(old.node);
    agent.signal('SIGTERM');
    expect(await agent.exited).toEqual({ code: 0, signal: null });
    await cluster.ready({ not: old.node, after: old.token });
  });
});

describe('another node leads after', () => {
  it('a kill -9 of the leader’s agent', async () => {
    const old = await cluster.ready();
    await cluster.killAgent(old.node);
    await cluster.ready({ after: old.token });
  });

  it('a kill -9 of its agent and its guardian', async () => {
    const old = await cluster.ready();
    await cluster.agent(old.node).kill9();
    await cluster.ready({ not: old.node });
  });

  it('a cut of the leader from every server, and the old workload is dead by then', async () => {
    const old = await cluster.ready();
    await using _ = cluster.links(old.node).cut();
    await cluster.ready({ not: old.node });
  });

  it('a takeover hook that hangs, which is killed', async () => {
    const old = await cluster.ready();
    const [hanging = ''] = cluster.others(old.node);
    await cluster.hooks.behave(hanging, 'takeover', { hang: true });
    await cluster.view.switchOver(hanging);
    const { token } = await cluster.hooked(hanging, 'takeover', 'started', old.token);
    await cluster.ready({ not: hanging, after: BigInt(token) });
  });

  it.runIf(supportsEnsemble)('the death of the ensemble’s leader, or the same node leads on', async () => {
    const server = await servers.ensemble.leader();
    await server.kill9();
    await servers.ensemble.leader();
    await cluster.ready();
    await server.restart();
  });
});
