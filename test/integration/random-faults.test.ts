/**
 * Faults at random, several at a time: agents and keepers killed and frozen, links cut and reset, servers killed and
 * frozen, hooks that fail, hang and dawdle, operators who move the leader. Whatever happens, no two nodes' hooks are
 * active at once, and when it is over somebody leads.
 *
 * It runs for as long as PETREL_TEST_FAULTS_FOR says, and not without it: its timing is never twice the same, so it is
 * for finding faults, not for judging a change. PETREL_TEST_SEED repeats the choices of a run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { durationMs } from '../../src/core/duration.js';
import { type Cluster, useCluster, useServers } from '../support/cluster.js';
import { supportsEnsemble, type TestServer } from '../support/ensemble.js';
import type { HookBehaviour } from '../support/hook-log.js';

const wanted = process.env.PETREL_TEST_FAULTS_FOR;
const lastsMs = durationMs(wanted ?? '20s');
const seed = Number(process.env.PETREL_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const longestFaultMs = 3_500;
const servers = useServers();

describe.skipIf(wanted === undefined)('a group to which everything happens', () => {
  const cluster = useCluster({
    servers,
    sites: { a1: 'a', a2: 'a', b1: 'b', b2: 'b' },
    sessionTimeoutMs: 2_000,
  });

  it(
    'never has two nodes active at once, and has a leader when it is over',
    async () => {
      const random = randomFrom(seed);
      const endsAtMs = performance.now() + lastsMs;
      process.stdout.write(`random faults: PETREL_TEST_SEED=${seed}\n`);
      const troubles = [0, 1, 2].map(async () => {
        while (performance.now() < endsAtMs) {
          await pick(random, faults)(cluster, random);
          await sleep(random() * 1_000);
          await cluster.hooks.assertExclusive();
        }
      });
      await Promise.all(troubles);
      await cluster.settle();
      await cluster.ready();
    },
    lastsMs + 90_000,
  );
});

type Random = () => number;
type Fault = (cluster: Cluster, random: Random) => Promise<void>;

const killAgent: Fault = (cluster, random) =>
  withNode(cluster, random, async (node) => {
    await cluster.agent(node).kill9();
    await sleep(random() * longestFaultMs);
    await cluster.run(node);
  });

const stopAgent: Fault = (cluster, random) =>
  withNode(cluster, random, async (node) => {
    const agent = cluster.agent(node);
    agent.term();
    await sleep(random() * longestFaultMs);
    await agent.kill9();
    await cluster.run(node);
  });

const freezeAgent: Fault = (cluster, random) =>
  withNode(cluster, random, async (node) => {
    cluster.agent(node).pause();
    await sleep(random() * longestFaultMs);
    cluster.agent(node).resume();
  });

const killKeeper: Fault = (cluster, random) =>
  withNode(cluster, random, async (node) => {
    const keeper = await cluster.findKeeper(node);
    if (keeper === null) return;
    signal(keeper, 'SIGKILL');
    await sleep(500);
  });

const freezeKeeper: Fault = (cluster, random) =>
  withNode(cluster, random, async (node) => {
    const keeper = await cluster.findKeeper(node);
    if (keeper === null) return;
    signal(keeper, 'SIGSTOP');
    await sleep(random() * longestFaultMs);
    signal(keeper, 'SIGCONT');
  });

const cut: Fault = async (cluster, random) => {
  const links = cluster.links(pick(random, cluster.nodes));
  links.cut(pick(random, ['both', 'toClient', 'toServer']));
  await sleep(random() * longestFaultMs);
  await links.heal();
};

const cutEverybody: Fault = async (cluster, random) => {
  for (const node of cluster.nodes) cluster.links(node).cut();
  await sleep(random() * longestFaultMs);
  for (const node of cluster.nodes) await cluster.links(node).heal();
};

const reset: Fault = async (cluster, random) => cluster.links(pick(random, cluster.nodes)).reset();

const killServer: Fault = (cluster, random) =>
  withServer(cluster, random, async (server) => {
    await server.kill9();
    await sleep(random() * longestFaultMs);
    await server.restart({ waitUntilReady: false });
  });

const freezeServer: Fault = (cluster, random) =>
  withServer(cluster, random, async (server) => {
    await server.pause();
    await sleep(random() * longestFaultMs);
    await server.resume();
  });

const isolateServer: Fault = (cluster, random) =>
  withServer(cluster, random, async (server) => {
    const { all, ensemble } = cluster.servers;
    await ensemble.isolate(all.indexOf(server));
    await sleep(random() * longestFaultMs);
    await ensemble.heal();
  });

const switchOver: Fault = async (cluster, random) => {
  await cluster.view.switchOver(pick(random, cluster.nodes)).catch(() => undefined);
};

const upset: Fault = async (cluster, random) => {
  const behaviours: HookBehaviour[] = [
    {},
    { exitCode: 1 },
    { takeMs: 700 },
    { hang: true },
    { stubborn: true },
    { leave: true },
    { exitCode: 1, leave: true, takeMs: 300 },
  ];
  await cluster.behave(pick(random, cluster.nodes), {
    takeover: pick(random, behaviours),
    release: pick(random, behaviours),
  });
};

const faults: readonly Fault[] = [
  killAgent,
  stopAgent,
  freezeAgent,
  killKeeper,
  freezeKeeper,
  cut,
  cutEverybody,
  reset,
  killServer,
  freezeServer,
  ...(supportsEnsemble ? [isolateServer] : []),
  switchOver,
  switchOver,
  upset,
];

const nodesInTrouble = new Set<string>();

/**
 * One of an agent and its keeper at a time: a workload with nobody to guard it goes on for ever.
 */
async function withNode(
  cluster: Cluster,
  random: Random,
  trouble: (node: string) => Promise<void>,
): Promise<void> {
  const node = pick(random, cluster.nodes);
  if (nodesInTrouble.has(node)) return;
  nodesInTrouble.add(node);
  await trouble(node).finally(() => nodesInTrouble.delete(node));
}

let serverInTrouble = false;

/** One server at a time: without a majority nothing can be shown. */
async function withServer(
  cluster: Cluster,
  random: Random,
  trouble: (server: TestServer) => Promise<void>,
): Promise<void> {
  if (serverInTrouble) return;
  serverInTrouble = true;
  await trouble(pick(random, cluster.servers.all)).finally(() => {
    serverInTrouble = false;
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has gone by itself.
  }
}

function pick<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[Math.floor(random() * choices.length)];
  if (choice === undefined) throw new RangeError('nothing to choose from');
  return choice;
}

/** mulberry32 */
function randomFrom(start: number): Random {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
