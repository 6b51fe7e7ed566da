/** Starts servers and contenders, runs the scenarios one after the other, and cleans up. */
import { execFile } from 'node:child_process';
import { constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { buildCommandLine } from '../test/support/build.js';
import { javaIsMissing } from '../test/support/zookeeper/java.js';
import type { BenchArguments, ScenarioName } from './arguments.js';
import { type Contender, otherVersion, contenders as ours, type Workshop } from './contenders.js';
import { scenarios } from './goals.js';
import { Hub } from './hub.js';
import { crash } from './scenarios/crash.js';
import { handover } from './scenarios/handover.js';
import { idle } from './scenarios/idle.js';
import { scale } from './scenarios/scale.js';
import { start } from './scenarios/start.js';
import { Etcd, ZooKeeper } from './servers.js';
import { Samples } from './statistics.js';
import type { Tournament } from './tournament.js';

export interface Measured {
  readonly samples: Samples;
  readonly peers: readonly string[];
  readonly missing: readonly string[];
}

export async function measure(requested: BenchArguments, say: (line: string) => void): Promise<Measured> {
  const noJava = javaIsMissing();
  if (noJava !== undefined) throw new Error(`no ZooKeeper can be started: ${noJava}`);
  const contenders =
    requested.against === null ? ours : [...ours, ...otherVersion(resolve(requested.against))];
  const { present, missing } = await lookFor(contenders.filter(({ name }) => isRequested(name, requested)));
  for (const line of missing) say(line);
  const samples = new Samples(contenders.map(({ name }) => name));
  await withWorkshop(await buildCommandLine(), present, async (workshop, hub) => {
    const isEtcdThere = present.some(({ system }) => system === 'etcd');
    await using etcd = isEtcdThere ? await Etcd.start() : null;
    const common = { contenders: present, workshop, hub, etcd, samples, failures: missing, say };
    await onServers(3, common, requested, ['handover', 'crash']);
    await onServers(1, common, requested, ['handover', 'start', 'scale', 'idle']);
  });
  const peers = contenders.filter(({ system }) => system === 'zookeeper').map(({ name }) => name);
  return { samples, peers, missing };
}

function isRequested(name: string, { contenders: parts }: BenchArguments): boolean {
  return parts.length === 0 || parts.some((part) => name.toLowerCase().includes(part.toLowerCase()));
}

async function lookFor(all: readonly Contender[]): Promise<{ present: Contender[]; missing: string[] }> {
  const present: Contender[] = [];
  const missing: string[] = [];
  for (const contender of all) {
    const why = await contender.missing();
    if (why === null) present.push(contender);
    else missing.push(`${contender.name} is missing on this machine: ${why}`);
  }
  return { present, missing };
}

/**
 * Compiles the contenders that need it, and opens the pipe that hooks write to. `main` is the path of the
 * built command line.
 */
export async function withWorkshop(
  main: string,
  present: readonly Contender[],
  use: (workshop: Workshop, hub: Hub) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'petrel-bench-'));
  const pipe = join(directory, 'pipe');
  const hub = new Hub();
  let reader: Socket | null = null;
  try {
    await promisify(execFile)('mkfifo', [pipe]);
    // The pipe is also open for writing here, so that it does not end when a hook closes it.
    reader = new Socket({ fd: openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK), readable: true });
    createInterface({ input: reader }).on('line', (line) => hub.take(line));
    const workshop = { directory, main, pipe };
    for (const contender of present) await contender.prepare?.(workshop);
    await use(workshop, hub);
  } finally {
    reader?.destroy();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Common = Omit<Tournament, 'zookeeper'>;

async function onServers(
  servers: 1 | 3,
  common: Common,
  requested: BenchArguments,
  runs: readonly ScenarioName[],
): Promise<void> {
  const wanted = runs.filter((name) => requested.scenarios.includes(name));
  if (wanted.length === 0) return;
  common.say(`starting ZooKeeper: ${servers} ${servers === 1 ? 'server' : 'servers'}`);
  await using zookeeper = await ZooKeeper.start(servers);
  const tournament = { ...common, zookeeper };
  for (const name of wanted) await runScenario(name, tournament, servers, requested);
}

async function runScenario(
  name: ScenarioName,
  tournament: Tournament,
  servers: 1 | 3,
  { rounds, isQuick, sizes, settleMs }: BenchArguments,
): Promise<void> {
  const times = (usual: number, quick: number) => rounds ?? (isQuick ? quick : usual);
  if (name === 'handover') {
    const scenario = servers === 3 ? scenarios.handover3 : scenarios.handover1;
    const many = servers === 3 ? times(10, 2) : times(6, 1);
    await handover(tournament, scenario, { rounds: many, settleMs });
  } else if (name === 'crash') await crash(tournament, scenarios.crash, times(8, 1));
  else if (name === 'start') await start(tournament, scenarios.start, times(6, 1));
  else if (name === 'idle') {
    const windows = isQuick ? { settleMs: 5_000, windowMs: 10_000 } : { settleMs: 20_000, windowMs: 60_000 };
    await idle(tournament, scenarios.idle, windows);
  } else
    for (const size of sizes)
      await scale(tournament, scenarios.scale, size, { timed: times(6, 2), counted: times(3, 1) });
}
