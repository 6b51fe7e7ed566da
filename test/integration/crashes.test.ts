/** Agents and guardians that are killed, frozen or restarted, or that are asked to leave. */
import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { systemProcesses } from '../../src/hooks/system-processes.js';
import type { LogLine } from '../support/agents.js';
import { type Cluster, useCluster } from '../support/cluster.js';
import { isAlive } from '../support/process-list.js';
import { useServers, useSharedServers } from '../support/servers.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';

const servers = useSharedServers();
const sites = { a1: 'a', a2: 'a', b1: 'b' };

describe('in one group', () => {
  const cluster = useCluster({ servers, sites });

  describe('an agent that is killed', () => {
    it('is succeeded long before its session would have expired', async () => {
      const old = await cluster.ready();
      const sinceKill = startStopwatch();
      await cluster.killAgent(old.node);
      await cluster.ready({ not: old.node });
      const tookMs = Math.round(sinceKill.ms);
      process.stdout.write(`kill -9 of the agent: another is READY after ${tookMs} ms\n`);
      expect(tookMs).toBeLessThan(cluster.sessionTimeoutMs);
    });

    it('has its workload released by its guardian before anybody else takes over', async () => {
      const old = await cluster.ready();
      await cluster.killAgent(old.node);
      await cluster.hooked(old.node, 'release', 'ended', old.token - 1n);
      await cluster.ready({ not: old.node });
    });

    it('P20 is started again by its guardian, and joins', async () => {
      const old = await cluster.ready();
      const guardian = cluster.agent(old.node);
      const heard = guardian.log.length;
      await cluster.killAgent(old.node);
      await guardian.logged(/the agent was killed by SIGKILL/, { after: heard });
      await guardian.logged(/proven dead, and the dead agent's session was ended/, { after: heard });
      await guardian.logged(/restarting the agent in/, { after: heard });
      await guardian.logged(/^joined/, { after: heard });
      await cluster.ready({ after: old.token });
    });

    it('as a follower leaves the group at once, comes back, and nothing moves', async () => {
      const leader = await cluster.ready();
      const [follower = ''] = cluster.others(leader.node);
      const guardian = cluster.agent(follower);
      const heard = guardian.log.length;
      await cluster.killAgent(follower);
      await guardian.logged(/session was ended/, { after: heard });
      await guardian.logged(/^joined/, { after: heard });
      expect(await cluster.ready()).toEqual(leader);
    });

    it('while its takeover hook runs has that ended, and another node leads', async () => {
      const old = await cluster.ready();
      const [candidate = ''] = cluster.others(old.node);
      await cluster.hooks.behave(candidate, 'takeover', { takeMs: 2_000 });
      await cluster.view.switchOver(candidate);
      await cluster.hooked(candidate, 'takeover', 'started', old.token);
      await cluster.killAgent(candidate);
      await cluster.ready({ not: candidate, after: old.token });
    });
  });

  describe('an agent that is killed together with its guardian', () => {
    it('is succeeded soon after its session timeout', async () => {
      const old = await cluster.ready();
      const sinceKill = startStopwatch();
      await cluster.agent(old.node).kill9();
      await cluster.ready({ not: old.node });
      const tookMs = Math.round(sinceKill.ms);
      process.stdout.write(
        `kill -9 of agent and guardian: READY after ${tookMs} ms, session timeout ${cluster.sessionTimeoutMs} ms\n`,
      );
      expect(tookMs).toBeLessThan(cluster.sessionTimeoutMs + 5_000);
    });

    it('has its workload killed at once, long before another node leads', async () => {
      const old = await cluster.ready();
      await cluster.agent(old.node).kill9();
      await cluster.ended(old);
      expect(await cluster.view.leader()).toMatchObject({ node: old.node });
      await cluster.ready({ not: old.node });
    });

    it('P20 and started again at once waits for its earlier session, says so, and joins', async () => {
      const old = await cluster.ready();
      await cluster.agent(old.node).kill9();
      const killedAtMs = performance.now();
      const sinceKill = startStopwatch();
      const again = await cluster.run(old.node);
      const waited = again.logged(
        /session of an earlier run of .* has not expired yet: waiting for at most its session timeout \(5 s/,
      );
      const joined = again.logged(/^joined/);
      await Promise.race([waited, joined]);
      // On a very slow machine, the session may end before the agent starts. If so, there is nothing to wait
      // for. The session's last ping was sent up to a quarter of its timeout before the kill.
      if (performance.now() - killedAtMs < cluster.sessionTimeoutMs * 0.7) await waited;
      else waited.catch(() => undefined);
      await joined;
      expect(sinceKill.ms).toBeLessThan(cluster.sessionTimeoutMs + 5_000);
      await cluster.ready({ after: old.token });
    });

    it('P20 as a follower and started again at once ends its earlier session and joins within it', async () => {
      const [follower = ''] = cluster.others((await cluster.ready()).node);
      await cluster.agent(follower).kill9();
      const killedAtMs = performance.now();
      const again = await cluster.run(follower);
      await again.logged(/^joined/);
      // On a very slow machine, the session may end before the agent starts. If so, there is no session to
      // end. The session's last ping was sent up to a quarter of its timeout before the kill.
      const isSlow = performance.now() - killedAtMs >= cluster.sessionTimeoutMs * 0.7;
      if (!isSlow) await again.logged(/ending the session of an earlier run/);
    });
  });

  describe('a guardian that is killed', () => {
    it('while its node leads has its workload ended by the agent, which releases and leaves', async () => {
      const old = await cluster.ready();
      const agent = await cluster.agentPid(old.node);
      process.kill(cluster.agent(old.node).pid, 'SIGKILL');
      const next = await cluster.ready({ not: old.node });
      expect(next.token).toBeGreaterThan(old.token);
      await cluster.hooked(old.node, 'release', 'ended', old.token - 1n);
      await until(() => !isAlive(agent), { describe: 'the agent to have left' });
      expect(await cluster.view.seated()).not.toContain(old.node);
    });

    it('while its takeover hook runs has that ended too', async () => {
      const old = await cluster.ready();
      const [candidate = ''] = cluster.others(old.node);
      await cluster.hooks.behave(candidate, 'takeover', { takeMs: 2_000 });
      await cluster.view.switchOver(candidate);
      await cluster.hooked(candidate, 'takeover', 'started', old.token);
      const agent = await cluster.agentPid(candidate);
      process.kill(cluster.agent(candidate).pid, 'SIGKILL');
      const next = await cluster.ready({ not: candidate, after: old.token });
      expect((await cluster.view.elected()).node).toBe(next.node);
      await until(() => !isAlive(agent), { describe: 'the agent to have left' });
    });

    it('while its node follows has the agent leave, and nothing moves', async () => {
      const leader = await cluster.ready();
      const [follower = ''] = cluster.others(leader.node);
      const agent = await cluster.agentPid(follower);
      process.kill(cluster.agent(follower).pid, 'SIGKILL');
      await until(() => !isAlive(agent), { describe: 'the agent to have left' });
      expect(await cluster.view.seated()).not.toContain(follower);
      expect(await cluster.ready()).toEqual(leader);
    });
  });

  describe('a guardian that is frozen', () => {
    it('while its node leads and is cut off has its workload killed by the agent before another leads', async () => {
      const old = await cluster.ready();
      await using _ = cluster.links(old.node).cut();
      process.kill(cluster.agent(old.node).pid, 'SIGSTOP');
      await cluster.ready({ not: old.node });
      await cluster.ended(old);
    });
  });

  describe('an agent that is frozen', () => {
    it('P10 past its session, while it leads, claims nothing when it goes on, not even once', async () => {
      const old = await cluster.ready();
      const agent = cluster.agent(old.node);
      agent.pause();
      const next = await cluster.ready({ not: old.node });
      const heard = agent.log.length;
      agent.resume();
      await agent.logged(/^joined/, { after: heard });
      expect(agent.log.slice(heard).filter(claimsLeadership)).toEqual([]);
      const { node, token } = await cluster.ready();
      expect({ node, token }).toEqual({ node: next.node, token: next.token });
    });

    it('P40 past its session, while its takeover hook runs, has the hook ended by its guardian', async () => {
      const old = await cluster.ready();
      const [candidate = ''] = cluster.others(old.node);
      const agent = cluster.agent(candidate);
      await cluster.hooks.behave(candidate, 'takeover', { takeMs: 2_900 });
      await cluster.view.switchOver(candidate);
      await cluster.hooked(candidate, 'takeover', 'started', old.token);
      agent.pause();
      const next = await cluster.ready({ not: candidate, after: old.token });
      const heard = agent.log.length;
      agent.resume();
      await agent.logged(/^joined/, { after: heard });
      expect(agent.log.slice(heard).filter(claimsLeadership)).toEqual([]);
      expect((await cluster.ready()).token).toBe(next.token);
    });

    it('together with its guardian and its hook has the hook killed as soon as the guardian goes on', async () => {
      const old = await cluster.ready();
      const [candidate = ''] = cluster.others(old.node);
      await cluster.hooks.behave(candidate, 'takeover', { takeMs: 2_900 });
      await cluster.view.switchOver(candidate);
      const { token } = await cluster.hooked(candidate, 'takeover', 'started', old.token);
      const agent = cluster.agent(candidate);
      const guardian = agent.pid;
      const hook = await cluster.hookGroup(candidate);
      agent.pause();
      process.kill(guardian, 'SIGSTOP');
      process.kill(-hook, 'SIGSTOP');
      const next = await cluster.ready({ not: candidate, after: old.token });
      expect(next.token).toBeGreaterThan(BigInt(token));
      process.kill(guardian, 'SIGCONT');
      await until(() => !systemProcesses.groupIsAlive(hook), { describe: 'the frozen hook to be killed' });
      agent.resume();
      await agent.logged(/registering again/);
      expect((await cluster.ready()).token).toBe(next.token);
    });

    it('while it is the elector and does not lead, is replaced as elector', async () => {
      const elector = await electorThatFollows(cluster);
      cluster.agent(elector).pause();
      const old = await cluster.ready();
      await cluster.agent(old.node).kill9();
      const next = await cluster.ready({ after: old.token });
      expect([elector, old.node]).not.toContain(next.node);
    });
  });

  describe.each(['SIGTERM', 'SIGINT'] as const)('an agent that gets %s', (signal) => {
    it('while it leads hands over, and exits with 0, long before its session could end', async () => {
      const old = await cluster.ready();
      const agent = cluster.agent(old.node);
      const sinceAsked = startStopwatch();
      process.kill(agent.pid, signal);
      await cluster.ready({ not: old.node });
      expect(await agent.exited).toEqual({ code: 0, signal: null });
      expect(sinceAsked.ms).toBeLessThan(cluster.sessionTimeoutMs);
      expect(agent.log.at(-1)?.msg).toBe('left the group');
      expect(await cluster.view.seated()).not.toContain(old.node);
    });

    it('while it follows leaves at once, and nothing moves', async () => {
      const leader = await cluster.ready();
      const [follower = ''] = cluster.others(leader.node);
      process.kill(cluster.agent(follower).pid, signal);
      expect(await cluster.agent(follower).exited).toEqual({ code: 0, signal: null });
      expect(await cluster.ready()).toEqual(leader);
    });
  });
});

describe('an agent whose state directory is gone', () => {
  const cluster = useCluster({ servers, sites: { a1: 'a', a2: 'a' }, sessionTimeoutMs: 2_000 });

  it('says that it cannot remember its session, and leads and follows as before', async () => {
    const old = await cluster.ready();
    const agent = cluster.agent(old.node);
    await rm(cluster.stateDir(old.node), { recursive: true });
    {
      await using _ = cluster.links(old.node).cut();
      await cluster.ready({ not: old.node });
      await agent.logged(/session lost/);
    }
    await agent.logged(/cannot save the session/);
    await cluster.view.switchOver(old.node);
    await cluster.ready({ node: old.node });
    agent.term();
    expect(await agent.exited).toEqual({ code: 0, signal: null });
  });
});

describe('the last agent of a group', () => {
  const cluster = useCluster({ servers, sites: { a1: 'a' }, config: { failback: 'auto' } });

  it('does not wait long for a successor after a second signal to leave', async () => {
    const agent = cluster.agent('a1');
    agent.term();
    await agent.logged(/SIGTERM: leaving/);
    agent.term();
    expect(await agent.exited).toEqual({ code: 0, signal: null });
    expect(await cluster.view.leader()).toBeNull();
    expect((await cluster.hooks.events()).at(-1)).toMatchObject({ phase: 'release', event: 'ended' });
  });
});

function claimsLeadership({ msg }: LogLine): boolean {
  return /this node leads|claimed|onTakeover started/.test(msg);
}

async function electorThatFollows(cluster: Cluster): Promise<string> {
  const [elector = ''] = await cluster.view.seated();
  const leader = await cluster.ready();
  if (leader.node !== elector) return elector;
  const [other = ''] = cluster.others(elector);
  await cluster.view.switchOver(other);
  await cluster.ready({ node: other });
  return elector;
}

// Uses sessions that no busy machine loses, because leadership must not move.
describe('with longer sessions', () => {
  const patient = useServers({ maxSessionTimeoutMs: 60_000 });
  const cluster = useCluster({ servers: patient, sites, sessionTimeoutMs: 9_000 });

  it('an agent that is frozen for less than its session goes on leading under its old token', async () => {
    const old = await cluster.ready();
    cluster.agent(old.node).pause();
    await new Promise((resolve) => setTimeout(resolve, cluster.sessionTimeoutMs * 0.15));
    cluster.agent(old.node).resume();
    const leader = await cluster.ready();
    expect(leader).toMatchObject({ node: old.node, token: old.token });
  });
});
