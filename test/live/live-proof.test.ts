/**
 * Compares the node that Petrel elects with the best leader for the clients of a real service. Agents in
 * separate processes measure round trips over an emulated wide-area network, and elect. A replicated service
 * on the same network shows under which leader its clients would have waited least. Both nodes must be the
 * same. Every run plays one case. PETREL_LIVE_PROOF=all plays all of them and prints the table.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedZooKeeper } from '../support/ensemble.js';
import { until } from '../support/until.js';
import { WideArea } from '../support/wide-area.js';
import {
  type Deployment,
  deployments,
  type Load,
  meanByFormula,
  roundTripMs,
  servers,
  shares,
  survivors,
} from './deployments.js';
import { LiveGroup } from './live-group.js';
import { ReplicatedService } from './replicated-service.js';
import { WorkloadPlace } from './workload.js';

interface Case {
  readonly deployment: Deployment;
  readonly load: Load;
  readonly strategy: 'latency' | 'worst-case' | 'consensus' | 'request';
  readonly isQuick?: boolean;
  /** The centres that contain the paper's leader, for strategies other than `latency`. */
  readonly elects?: readonly string[];
}

const { 1: first, 2: second, 3: third, two } = deployments;
const even = [1, 1, 1];
const threeLoads: readonly Load[] = [even, [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
const twoLoads: readonly Load[] = [
  [1, 1],
  [1, 0],
  [0, 1],
];

const cases: readonly Case[] = [
  ...[first, second, third].flatMap((deployment) =>
    threeLoads.map((load): Case => {
      const isQuick = deployment === first && load[0] === 0 && load[2] === 1;
      return { deployment, load, strategy: 'latency', isQuick };
    }),
  ),
  ...twoLoads.map((load): Case => ({ deployment: two, load, strategy: 'latency' })),
  { deployment: first, load: even, strategy: 'worst-case', elects: ['D2'] },
  { deployment: second, load: even, strategy: 'worst-case', elects: ['D1'] },
  { deployment: first, load: [0, 0, 1], strategy: 'worst-case', elects: ['D2'] },
  { deployment: third, load: [0, 1, 0], strategy: 'consensus', elects: ['D1', 'D2'] },
  { deployment: first, load: [0, 0, 1], strategy: 'request', elects: ['D3'] },
  { deployment: second, load: [0, 0, 1], strategy: 'request', elects: ['D3'] },
];
const isFull = process.env.PETREL_LIVE_PROOF === 'all';
const played = cases.filter(({ isQuick }) => isFull || isQuick);

const timesEachWay = 8;
/** Measurement noise of a busy machine. */
const noiseMs = 3;
const publishedNoiseMs = 10;
const noiseShare = 0.1;

let deployment: Deployment = first;
let workload: WorkloadPlace | null = null;
const area = new WideArea((from, to) => roundTripMs(deployment, from, to) / 2);
const serviceArea = new WideArea((from, to) => roundTripMs(deployment, from, to) / 2);
const service = new ReplicatedService(servers.length);
let group: LiveGroup;
const rows: string[] = [];

beforeAll(async () => {
  for (const server of survivors) await service.start(server, serviceArea);
  const rate = (node: string) => (node === 'p5' ? 0 : service.rate(node));
  group = await LiveGroup.start(await sharedZooKeeper(), area, servers, rate);
});

afterAll(async () => {
  workload?.end();
  await group[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await Promise.all([area[Symbol.asyncDispose](), serviceArea[Symbol.asyncDispose]()]);
  if (isFull) process.stdout.write(`${[...header, ...rows].join('\n')}\n`);
});

describe('when the leader has crashed', () => {
  it.each(played)(
    '$strategy elects in $deployment.name under $load',
    async (one) => {
      const { strategy, load } = one;
      deployment = one.deployment;
      workload?.end();
      const running = new WorkloadPlace(service, shares(deployment, load), survivors);
      workload = running;
      await group.configure({
        strategy,
        strategyOptions: strategy === 'request' ? {} : { size: servers.length },
      });
      await group.lead('p5');
      await untilPublished(running);
      await until(() => running.hasMeasured(timesEachWay), {
        timeoutMs: 60_000,
        describe: 'enough requests',
      });
      await group.crash('p5');
      const elected = await group.leader('p5');
      const waits = new Map(survivors.map((server) => [server, running.meanMs(server)]));
      const fastest = [...survivors].sort((a, b) => running.meanMs(a) - running.meanMs(b))[0] ?? 'p1';
      rows.push(row(one, elected, running.meanMs(elected), fastest, running.meanMs(fastest)));
      const leastMs = running.meanMs(fastest);
      const why = `${await group.reason()}; measured ${JSON.stringify([...waits])}`;
      if (one.elects !== undefined) expect(one.elects, why).toContain(deployment.centres[elected]);
      else expect(running.meanMs(elected), why).toBeLessThanOrEqual(leastMs * (1 + noiseShare) + noiseMs);
    },
    180_000,
  );
});

/** Waits until the eligible nodes have reported the actual round trips and load. */
async function untilPublished(running: WorkloadPlace): Promise<void> {
  for (const node of survivors) {
    const isPublished = async () => {
      const published = await group.published(node);
      if (published === null) return false;
      const others = survivors.filter((other) => other !== node);
      const areNear = others.every((other) => {
        const ms = roundTripMs(deployment, node, other);
        const measured = published.roundTripsMs.get(other) ?? Number.NaN;
        return measured >= ms - 1 && measured <= ms * (1 + noiseShare) + publishedNoiseMs;
      });
      return areNear && Math.abs(published.requests - running.rate(node)) <= 0.15 * running.rate(node) + 0.5;
    };
    await until(isPublished, {
      timeoutMs: 90_000,
      intervalMs: 200,
      describe: `${node} to publish what there is`,
    });
  }
}

const header = [
  '| deployment | requests from | strategy | elected | measured wait | fastest | predicted |',
  '| --- | --- | --- | --- | --- | --- | --- |',
];

function row(one: Case, elected: string, waitMs: number, fastest: string, leastMs: number): string {
  const { deployment, load, strategy } = one;
  const from = load.every((part) => part === load[0])
    ? 'all alike'
    : load.flatMap((part, index) => (part > 0 ? [`D${index + 1}`] : [])).join(', ');
  const formula = meanByFormula(deployment, load, elected);
  const cells = [
    deployment.name,
    from,
    strategy,
    `${elected} (${deployment.centres[elected] ?? ''})`,
    `${waitMs.toFixed(1)} ms`,
    `${fastest} ${leastMs.toFixed(1)} ms`,
    `${formula.toFixed(1)} ms`,
  ];
  return `| ${cells.join(' | ')} |`;
}
