/** Hooks that fail, hang, are slow, write too much, or leave processes that do not end. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupConfigSchema } from '../../src/model/group-config.js';
import { type Cluster, testConfig, useCluster } from '../support/cluster.js';
import type { Leader } from '../support/group-view.js';
import type { HookEvent } from '../support/hook-events.js';
import { useSharedServers } from '../support/servers.js';
import { until } from '../support/until.js';

const servers = useSharedServers();
const sites = { a1: 'a', a2: 'a', b1: 'b' };
const { timeouts, backoff } = groupConfigSchema.parse({
  timeouts: { ...testConfig.timeouts, takeover: '1500ms', release: '1500ms' },
  backoff: { base: '300ms', max: '600ms' },
});

describe('in one group', () => {
  const cluster = useCluster({ servers, sites, config: { timeouts, backoff } });

  describe('a takeover hook', () => {
    it('P43 that fails has its node released and excluded, and another leads', async () => {
      const { old, candidate } = await handOver(cluster, { takeover: { exitCode: 3 } });
      const next = await cluster.ready({ not: candidate, after: old.token });
      const failed = await cluster.hooked(candidate, 'takeover', 'ended', old.token);
      const released = await cluster.hooked(candidate, 'release', 'ended', old.token);
      expect(released.token).toBe(failed.token);
      const { failures } = await cluster.view.elected();
      expect(failures.map(({ node }) => node)).toContain(candidate);
      expect(await recordOf(cluster, failed.token)).toMatchObject({
        node: candidate,
        outcome: 'FAILED',
        error: { phase: 'takeover', exitCode: 3 },
      });
      expect(next.term).toBeGreaterThan(failed.term);
    });

    it('P41 that hangs is killed when its time is over, and another leads', async () => {
      const { old, candidate } = await handOver(cluster, { takeover: { hang: true } });
      const { token } = await cluster.hooked(candidate, 'takeover', 'started', old.token);
      await cluster.ready({ not: candidate, after: BigInt(token) });
      // The node reports the timeout itself, unless the elector's transition watchdog noticed it first.
      const { error } = await recordOf(cluster, token);
      expect(error).toMatchObject({
        phase: 'takeover',
        reason: expect.stringContaining('timed out after 1500 ms'),
      });
    });

    it('P33 that is slow leaves its node in PROGRESS until it has ended', async () => {
      await cluster.view.changeConfig((config) => {
        config.timeouts.takeover = '20s';
      });
      const { old, candidate } = await handOver(cluster, { takeover: { takeMs: 3_000 } });
      await cluster.hooked(candidate, 'takeover', 'started', old.token);
      expect(await cluster.view.leader()).toMatchObject({ node: candidate, status: 'PROGRESS' });
      await until(async () => (await cluster.view.leader())?.status === 'READY');
      await cluster.hooked(candidate, 'takeover', 'ended', old.token);
    });

    it('that fails on every node is tried again, and somebody leads once it works', async () => {
      const old = await cluster.ready();
      for (const node of cluster.nodes) await cluster.hooks.behave(node, 'takeover', { exitCode: 1 });
      await cluster.agent(old.node).kill9();
      await until(async () => (await cluster.view.elected()).failures.length > 1, { timeoutMs: 20_000 });
      for (const node of cluster.nodes) await cluster.hooks.behave(node, 'takeover', {});
      await cluster.ready({ after: old.token });
    });

    it('P12 whose workload ignores SIGTERM has it killed before the next one starts', async () => {
      const { candidate } = await handOver(cluster, {
        takeover: { stubborn: true },
        release: { leave: true },
      });
      const stubborn = await cluster.ready({ node: candidate });
      const [next = ''] = cluster.others(candidate);
      await cluster.view.switchOver(next);
      const takeover = await cluster.hooked(next, 'takeover', 'started', stubborn.token);
      expect(takeover.alive.filter(({ node, state }) => node === candidate && state !== 'Z')).toEqual([]);
      await cluster.ready({ node: next });
    });
  });

  describe('a release hook', () => {
    it('P17 that takes its time keeps the claim, and the next takeover waiting, until it has ended', async () => {
      const old = await cluster.ready();
      await cluster.view.changeConfig((config) => {
        config.timeouts.release = '20s';
      });
      await cluster.hooks.behave(old.node, 'release', { takeMs: 3_000 });
      const [candidate = ''] = cluster.others(old.node);
      await cluster.view.switchOver(candidate);
      await cluster.hooked(old.node, 'release', 'started', old.token - 1n);
      expect(await cluster.view.leader()).toMatchObject({ node: old.node, token: old.token });
      const next = await cluster.ready({ node: candidate });
      await expectOrder(cluster, old, next);
    });

    it('that hangs is killed with the workload when its time is over, and the next one leads', async () => {
      const old = await cluster.ready();
      await cluster.hooks.behave(old.node, 'release', { hang: true });
      const [candidate = ''] = cluster.others(old.node);
      await cluster.view.switchOver(candidate);
      await cluster.ready({ node: candidate });
      expect(cluster.agent(old.node).log.map(({ msg }) => msg)).toContainEqual(
        expect.stringMatching(/^release timed-out: .*killed everything that remained/),
      );
    });

    it('that fails and leaves the workload has that killed, and the next one leads', async () => {
      const old = await cluster.ready();
      await cluster.hooks.behave(old.node, 'release', { exitCode: 1, leave: true });
      const [candidate = ''] = cluster.others(old.node);
      await cluster.view.switchOver(candidate);
      await cluster.ready({ node: candidate });
    });

    it('P38 never runs together with a takeover hook when leadership goes to and fro, and the last request counts', async () => {
      const old = await cluster.ready();
      const [candidate = ''] = cluster.others(old.node);
      for (const node of [old.node, candidate]) {
        await cluster.hooks.behave(node, 'takeover', { takeMs: 500 });
        await cluster.hooks.behave(node, 'release', { takeMs: 500 });
      }
      for (const node of [candidate, old.node, candidate]) {
        await cluster.view.switchOver(node);
        await until(async () => (await cluster.view.elected()).node === node);
      }
      await cluster.ready({ node: candidate });
      for (const node of [old.node, candidate]) expect(await lateEnds(cluster, node)).toEqual([]);
    });
  });
});

describe('the environment of a hook, and what it writes', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'petrel-env-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const noise = 'if [ -e DIR/noisy ]; then seq 1 500000; head -c 5000000 /dev/zero >&2; fi';
  const cluster = useCluster({
    servers,
    sites,
    config: { backoff },
    command: (phase, command) =>
      `env >DIR/$PETREL_NODE.${phase}; ${noise}; echo last words >&2; exec ${command}`.replaceAll('DIR', dir),
  });

  it('P47 are the term, the token, the reason and who led before and leads next', async () => {
    const old = await cluster.ready();
    const [candidate = ''] = cluster.others(old.node);
    await cluster.view.switchOver(candidate);
    const { term, token } = await cluster.ready({ node: candidate });
    expect(await environmentOf(candidate, 'takeover')).toMatchObject({
      PETREL_PHASE: 'takeover',
      PETREL_ROOT: cluster.root,
      PETREL_NODE: candidate,
      PETREL_SITE: candidate.slice(0, 1),
      PETREL_TERM: String(term),
      PETREL_FENCING_TOKEN: String(token),
      PETREL_REASON: expect.stringContaining('switchover requested by test'),
      PETREL_PREVIOUS_LEADER: old.node,
      PETREL_PREVIOUS_SITE: old.node.slice(0, 1),
      PETREL_DEADLINE_MS: '3000',
    });
    expect(await environmentOf(old.node, 'release')).toMatchObject({
      PETREL_PHASE: 'release',
      PETREL_FENCING_TOKEN: String(old.token),
      PETREL_NEW_LEADER: candidate,
    });
  });

  it('P47 name the leader that was killed to its successor', async () => {
    const old = await cluster.ready();
    // The next elector knows only what was recorded, so wait for the record.
    await recordOf(cluster, String(old.token));
    await cluster.agent(old.node).kill9();
    const next = await cluster.ready({ not: old.node });
    expect(await environmentOf(next.node, 'takeover')).toMatchObject({
      PETREL_PREVIOUS_LEADER: old.node,
      PETREL_PREVIOUS_SITE: old.node.slice(0, 1),
      PETREL_REASON: expect.stringContaining(`instead of ${old.node} (no longer registered)`),
    });
  });

  it('P46 are in the history when it failed: command, exit code, duration, last lines', async () => {
    const { old, candidate } = await handOver(cluster, { takeover: { exitCode: 7 } });
    const { token } = await cluster.hooked(candidate, 'takeover', 'ended', old.token);
    await cluster.ready({ after: BigInt(token) });
    expect((await recordOf(cluster, token)).error).toMatchObject({
      phase: 'takeover',
      command: expect.stringContaining('last words'),
      exitCode: 7,
      signal: null,
      durationMs: expect.any(Number),
      outputTail: expect.arrayContaining(['last words']),
    });
  });

  it('may be far too much: it still leads, and neither agent nor guardian grows by it', async () => {
    // Writing and reading several megabytes takes seconds on a slow machine.
    await cluster.view.changeConfig((config) => {
      config.timeouts.takeover = '20s';
      config.timeouts.release = '20s';
    });
    await writeFile(join(dir, 'noisy'), '');
    const { candidate } = await handOver(cluster, {});
    const noisy = await cluster.ready({ node: candidate });
    await rm(join(dir, 'noisy'));
    for (const pid of [cluster.agent(candidate).pid, await cluster.agentPid(candidate)]) {
      expect(await residentMb(pid)).toBeLessThan(250);
    }
    expect(await cluster.ready()).toEqual(noisy);
  });

  async function environmentOf(node: string, phase: string): Promise<Record<string, string>> {
    const lines = (await readFile(join(dir, `${node}.${phase}`), 'utf8')).split('\n');
    const pairs = lines.map((line): [string, string] => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    });
    return Object.fromEntries(pairs);
  }
});

/** Requests a switchover to a node whose hooks have this behaviour. */
async function handOver(
  cluster: Cluster,
  behaviour: Parameters<Cluster['behave']>[1],
): Promise<{ old: Leader; candidate: string }> {
  const old = await cluster.ready();
  const [candidate = ''] = cluster.others(old.node);
  await cluster.behave(candidate, behaviour);
  await cluster.view.switchOver(candidate);
  return { old, candidate };
}

async function recordOf(cluster: Cluster, token: string) {
  return until(
    async () => (await cluster.view.transitions()).find(({ fencingToken }) => fencingToken === token),
    {
      describe: `the record of token ${token}`,
    },
  );
}

async function expectOrder(cluster: Cluster, old: Leader, next: Leader): Promise<void> {
  const events = await cluster.hooks.events();
  const released = events.findLastIndex(
    ({ token, event }) => token === String(old.token) && event === 'ended',
  );
  const taken = events.findIndex(({ token }) => token === String(next.token));
  expect(released).toBeLessThan(taken);
}

/** Returns the hooks of one node that ended after the node's next hook had started. */
async function lateEnds(cluster: Cluster, node: string): Promise<HookEvent[]> {
  let running = '';
  const late: HookEvent[] = [];
  for (const one of (await cluster.hooks.events()).filter((event) => event.node === node)) {
    const name = `${one.phase} ${one.token}`;
    if (one.event === 'started') running = name;
    if (one.event === 'ended' && name !== running) late.push(one);
  }
  return late;
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}
