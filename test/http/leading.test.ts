/**
 * /leader of real agents while leaderships end in all possible ways. Compares the answers with the events
 * that the hooks recorded.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { useCluster } from '../support/cluster.js';
import { codeOf } from '../support/http.js';
import { findings, LeaderChecks } from '../support/leader-checks.js';
import { freePorts } from '../support/ports.js';
import { useSharedServers } from '../support/servers.js';
import { until } from '../support/until.js';

const servers = useSharedServers();
const sites = { a1: 'a', a2: 'a', b1: 'b' };
const nodes = Object.keys(sites);

describe('/leader under a stream of requests', () => {
  const urls = new Map<string, string>();
  const env = (node: string) => ({
    PETREL_LISTEN: urls.get(node)?.replace('http://', '') ?? 'off',
    PETREL_LOG_LEVEL: 'info',
  });
  const checks = new LeaderChecks();
  beforeAll(async () => {
    const ports = await freePorts(nodes.length);
    for (const [index, node] of nodes.entries()) urls.set(node, `http://127.0.0.1:${ports[index]}`);
    for (const [node, url] of urls) checks.add(node, url);
  });
  const cluster = useCluster({ servers, sites, env });
  let freezes = 0;
  afterAll(() => checks[Symbol.asyncDispose]());

  /** Fails if any answer so far was untrue. */
  async function expectTruth(): Promise<void> {
    const { wrong, overtaken, early } = findings(checks.checks, await cluster.hooks.events());
    const claims = checks.checks.filter(({ code }) => code === 200).length;
    process.stdout.write(
      `${checks.checks.length} answers, ${claims} times 200, ${overtaken} on their way when it was over\n`,
    );
    expect(wrong).toEqual([]);
    expect(early).toEqual([]);
  }

  async function saidNoSince(node: string, sinceMs: number): Promise<void> {
    await until(() => checks.of(node, 503, sinceMs).length > 5, { describe: `${node} to say 503` });
  }

  it.each([1, 2])('a leader that is frozen for longer than its lease says 200 no more, time %i', async () => {
    const old = await cluster.ready();
    await until(() => checks.of(old.node, 200, 0).some(({ token }) => token === old.token));
    const agent = cluster.agent(old.node);
    agent.pause();
    freezes += 1;
    const candidate = await cluster.ready({ not: old.node });
    const sinceMs = systemClock.monotonicMs();
    await until(() => checks.of(candidate.node, 200, sinceMs).length > 20);
    agent.resume();
    await saidNoSince(old.node, systemClock.monotonicMs());
    await expectTruth();
    const { overtaken } = findings(checks.checks, await cluster.hooks.events());
    expect(overtaken).toBeLessThanOrEqual(freezes);
  });

  it('a leader that is frozen for less than its lease leads on', async () => {
    const old = await cluster.ready();
    const agent = cluster.agent(old.node);
    agent.pause();
    agent.resume();
    const sinceMs = systemClock.monotonicMs();
    await until(() => checks.of(old.node, 200, sinceMs).length > 5);
    await expectTruth();
  });

  it('a leader that is cut off from ZooKeeper says 503 before another leads', async () => {
    const old = await cluster.ready();
    const cut = cluster.links(old.node).cut();
    const candidate = await cluster.ready({ not: old.node });
    const sinceMs = systemClock.monotonicMs();
    await until(() => checks.of(candidate.node, 200, sinceMs).length > 5);
    await saidNoSince(old.node, sinceMs);
    await cut[Symbol.asyncDispose]();
    await expectTruth();
  });

  it('nodes that hand over slowly say 200 neither while they release nor while they take over', async () => {
    const old = await cluster.ready();
    const [candidate = ''] = cluster.others(old.node);
    await cluster.behave(old.node, { release: { takeMs: 500 } });
    await cluster.behave(candidate, { takeover: { takeMs: 500 } });
    await cluster.view.switchOver(candidate);
    await cluster.ready({ node: candidate, after: old.token });
    await until(() => checks.of(candidate, 200, 0).some(({ token }) => (token ?? 0n) > old.token));
    await expectTruth();
  });

  it('a node whose takeover fails never says 200', async () => {
    const old = await cluster.ready();
    const [candidate = ''] = cluster.others(old.node);
    await cluster.behave(candidate, { takeover: { takeMs: 200, exitCode: 3 } });
    await cluster.view.switchOver(candidate);
    await cluster.hooked(candidate, 'takeover', 'ended', old.token);
    await cluster.ready({ not: candidate, after: old.token });
    await expectTruth();
  });

  it('a leader that leaves says 503 from before its release on, and no reader keeps it', async () => {
    const old = await cluster.ready();
    const url = urls.get(old.node) ?? '';
    const reader = await fetch(`${url}/events`);
    expect(reader.status).toBe(200);
    const agent = cluster.agent(old.node);
    agent.term();
    expect(await agent.exited).toMatchObject({ code: 0 });
    await expect(reader.text().then(() => 'ended')).resolves.toBe('ended');
    await expect(codeOf(`${url}/health`)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
    await cluster.ready({ not: old.node });
    await expectTruth();
  });
});
