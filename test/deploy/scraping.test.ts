/** A Prometheus that scrapes three agents, each in a separate process, while the test harms them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startDevelopmentServer } from '../../src/testing.js';
import { type PetrelProcess, startProcess } from '../support/agents.js';
import { freePorts } from '../support/ports.js';
import { hasPrometheus, notHere, type Page, Prometheus, scrape } from '../support/prometheus.js';
import { uniqueRoot } from '../support/unique-root.js';
import { until } from '../support/until.js';

const alerts = fileURLToPath(new URL('../../deploy/prometheus/alerts.yml', import.meta.url));
const scrapeIntervalMs = 500;
const sessionTimeoutMs = 8_000;

interface Node {
  readonly name: string;
  readonly url: string;
  readonly process: PetrelProcess;
}

/** Starts the nodes one after the other. */
async function startNodes(zookeeper: string): Promise<Node[]> {
  const root = uniqueRoot('metrics');
  const ports = await freePorts(3);
  const nodes: Node[] = [];
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    const started = await startProcess(['agent'], {
      PETREL_ZOOKEEPER: zookeeper,
      PETREL_ROOT: root,
      PETREL_NODE_ID: name,
      PETREL_SITE: 'here',
      PETREL_SESSION_TIMEOUT: `${sessionTimeoutMs}ms`,
      PETREL_ON_TAKEOVER: 'sleep 600 &',
      PETREL_LISTEN: `127.0.0.1:${ports[index]}`,
    });
    await started.logged(/^joined/);
    nodes.push({ name, url: `http://127.0.0.1:${ports[index]}`, process: started });
  }
  return nodes;
}

async function leaderOf(nodes: readonly Node[]): Promise<Node> {
  const leads = async ({ url }: Node) => (await scrape(url)).value('petrel_leader') === 1;
  return await until(
    async () => {
      for (const node of nodes) if (await leads(node)) return node;
      return null;
    },
    { timeoutMs: 20_000, describe: `one of ${nodes.map(({ name }) => name)} to lead` },
  );
}

describe('three agents', () => {
  it.skipIf(!hasPrometheus)(`never show two leaders to Prometheus through failovers${notHere}`, async () => {
    await using zookeeper = await startDevelopmentServer({ tickTimeMs: 250, maxSessionTimeoutMs: 10_000 });
    const nodes = await startNodes(zookeeper.connectString);
    await using prometheus = await Prometheus.start({
      targets: nodes.map(({ url }) => new URL(url).host),
      scrapeIntervalMs,
      // The shipped rules with short waits.
      rules: readFileSync(alerts, 'utf8').replaceAll(/\bfor: \S+/g, 'for: 1s'),
    });
    const sumBecomes = (sum: number, more: string) =>
      until(async () => (await prometheus.value(`sum(petrel_leader) ${more}`)) === sum, {
        timeoutMs: 20_000,
        describe: `a sum of ${sum} ${more}`,
      });
    const firing = async () =>
      (await prometheus.query('ALERTS{alertstate="firing"}')).map(({ labels }) => labels.alertname);

    const first = await leaderOf(nodes);
    await sumBecomes(1, 'and count(petrel_leader) == 3');

    const fences = async () => {
      const page = await scrape(first.url);
      const late = page.value('petrel_self_fence_margin_seconds_bucket', 'le="0"') ?? 0;
      return { all: page.value('petrel_self_fence_margin_seconds_count') ?? 0, late };
    };
    const before = await fences();

    // An agent that was frozen for longer than its lease must not report that it leads, as in the tests named
    // P10. The requests reach the agent before it resumes.
    first.process.pause();
    const others = nodes.filter((node) => node !== first);
    const second = await leaderOf(others);
    await sumBecomes(1, 'and count(petrel_leader) == 2');
    const pending: Promise<Page>[] = Array.from({ length: 10 }, () => scrape(first.url));
    first.process.resume();
    const leads = (await Promise.all(pending)).map((page) => page.value('petrel_leader'));
    expect(leads).toEqual(pending.map(() => 0));
    await until(async () => (await scrape(first.url)).value('petrel_joined') === 1, { timeoutMs: 20_000 });
    expect(await fences()).toEqual({ all: before.all + 1, late: before.late });

    await second.process.kill9();
    await leaderOf(nodes.filter((node) => node !== second));
    await sumBecomes(1, 'and count(petrel_leader) == 2');

    expect(await prometheus.value('max_over_time(sum(petrel_leader)[5m:50ms])')).toBe(1);
    expect(await firing()).not.toContain('PetrelTwoLeaders');

    await Promise.all(nodes.filter((node) => node !== second).map(({ process }) => process.kill9()));
    await until(async () => (await firing()).includes('PetrelLeaderless'), {
      timeoutMs: 20_000,
      describe: 'an alert that nobody leads',
    });
    const scrapes = await prometheus.value('sum(count_over_time(petrel_leader[5m]))');
    process.stdout.write(`${scrapes} samples of petrel_leader, their sum never above 1\n`);
  });
});
