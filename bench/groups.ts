/**
 * Measures what many groups cost one agent. Three agents are members of all groups, and each leads a third of
 * them, on three servers of a real ZooKeeper. The program prints:
 *
 * - the time until every group is READY
 * - the memory of agents and guardians
 * - the packets per second at the servers while nothing happens
 * - the time until every group is READY again after an agent is killed
 * - the same time after an agent is killed together with its guardian
 *
 * It then measures a hundred groups with hooks, first without and then with a hook that hangs.
 *
 *   npm run bench:groups               1,000 groups, about 5 minutes
 *   MANY=100 npm run bench:groups
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupPaths } from '../src/model/paths.js';
import { claimSchema } from '../src/model/znodes.js';
import { systemClock } from '../src/ports/clock.js';
import { isStoreError, type Store } from '../src/ports/store.js';
import { askServer } from '../src/zookeeper/four-letter-word.js';
import { dialWith, openStore, parseConnectionString } from '../src/zookeeper/index.js';
import { spawnBound } from '../test/support/bound-process.js';
import { buildCommandLine } from '../test/support/build.js';
import { PetrelProcess } from '../test/support/petrel-process.js';
import { until } from '../test/support/until.js';
import { startOpenJavaEnsemble } from '../test/support/zookeeper/java.js';

const count = Number(process.env.MANY ?? 1_000);
const sessionTimeoutMs = 10_000;
const idleMs = Number(process.env.IDLE_SECONDS ?? 60) * 1_000;
const patience = { timeoutMs: 400_000, intervalMs: 100 };
const names = ['a1', 'b1', 'c1'] as const;

const main = await buildCommandLine();
const directory = await mkdtemp(join(tmpdir(), 'petrel-groups-'));
const java = await startOpenJavaEnsemble(3, { tickTimeMs: 500 });
const { connectString } = java.ensemble;
const servers = parseConnectionString(connectString);
const store = openStore({ servers, sessionTimeoutMs: 30_000 });
await store.connected();

const all: PetrelProcess[] = [];

interface Fleet {
  readonly roots: readonly string[];
  /** Returns those settings lines of a group that follow the line of its root. */
  entry(root: string, index: number, node: number): readonly string[];
  readonly hooks: readonly string[];
}

async function start(fleet: Fleet, node: number): Promise<PetrelProcess> {
  const name = names[node] ?? '';
  const path = join(directory, `${name}.yaml`);
  const entries = fleet.roots.flatMap((root, index) => [
    `  - root: ${root}`,
    ...fleet.entry(root, index, node).map((line) => `    ${line}`),
  ]);
  await writeFile(path, [...fleet.hooks, 'groups:', ...entries, ''].join('\n'));
  const stateDir = join(directory, name);
  const child = spawnBound(process.execPath, [main, 'agent', '--config', path, '--state-dir', stateDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: directory,
      PETREL_ZOOKEEPER: connectString,
      PETREL_NODE_ID: name,
      PETREL_SITE: 'here',
      PETREL_LISTEN: 'off',
      PETREL_LOG_LEVEL: 'error',
      PETREL_LOG_FORMAT: 'json',
      PETREL_SESSION_TIMEOUT: `${sessionTimeoutMs}ms`,
    },
  });
  const agent = new PetrelProcess(child, stateDir, null);
  all.push(agent);
  return agent;
}

/** Returns the READY leader, or null if there is none. */
async function leaderOf(from: Store, root: string): Promise<string | null> {
  try {
    const { data } = await from.getData(groupPaths(root).current);
    const { node, status } = claimSchema.parse(JSON.parse(data.toString('utf8')));
    return status === 'READY' ? node : null;
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
  }
}

/** Returns the time in milliseconds until each group has a leader that `may` accepts. */
async function ledIn(roots: readonly string[], may: (node: string) => boolean): Promise<number> {
  const beganAtMs = performance.now();
  let open = [...roots];
  await until(async () => {
    const leaders = await Promise.all(open.map((root) => leaderOf(store, root)));
    open = open.filter((_, index) => !may(leaders[index] ?? ''));
    return open.length === 0;
  }, patience);
  return performance.now() - beganAtMs;
}

async function packets(): Promise<number> {
  const options = { dial: dialWith(undefined), clock: systemClock, timeoutMs: 5_000 };
  const texts = await Promise.all(servers.servers.map((server) => askServer(server, 'srvr', options)));
  return texts.reduce((sum, text) => sum + Number(/^Received: (\d+)$/m.exec(text)?.[1]), 0);
}

async function residentMb(pid: number | null): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1]) / 1024);
}

async function cpuSeconds(pid: number | null): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

async function leaveAll(agents: readonly PetrelProcess[]): Promise<void> {
  await Promise.all(agents.map((agent) => agent.stop()));
}

async function manyGroups(): Promise<void> {
  const roots = Array.from({ length: count }, (_, index) => `/many/g${String(index).padStart(4, '0')}`);
  const priority = (_root: string, index: number, node: number) =>
    index % names.length === node ? ['priority: 200'] : [];
  const fleet: Fleet = { roots, entry: priority, hooks: [] };
  const agents = await Promise.all(names.map((_, node) => start(fleet, node)));
  say(
    `${count} groups, three agents started: all READY after ${seconds(await ledIn(roots, (node) => node !== ''))}`,
  );
  const spread = (index: number) => names[index % names.length];
  for (const [index] of names.entries()) {
    const third = roots.filter((_, at) => at % names.length === index);
    await ledIn(third, (node) => node === spread(index));
  }
  say('each leads a third');
  await sleep(idleMs);
  const cpuBefore = await Promise.all(agents.map(({ agentPid }) => cpuSeconds(agentPid)));
  const before = await packets();
  await sleep(idleMs);
  const rate = ((await packets()) - before) / (idleMs / 1000);
  const cpu = await Promise.all(agents.map(({ agentPid }) => cpuSeconds(agentPid)));
  const used = cpu.map((now, index) => (((now - (cpuBefore[index] ?? 0)) / idleMs) * 100_000).toFixed(1));
  say(
    `idle: ${rate.toFixed(0)} packets a second at the three servers together; CPU of the agents: ${used.join(', ')} %`,
  );
  const memory = await Promise.all(agents.map(({ agentPid }) => residentMb(agentPid)));
  const guardians = await Promise.all(agents.map(({ pid }) => residentMb(pid)));
  say(`memory: agents ${memory.join(', ')} MB; guardians ${guardians.join(', ')} MB`);
  process.kill(agents[0]?.agentPid ?? 0, 'SIGKILL');
  const third = roots.filter((_, at) => at % names.length === 0);
  say(
    `kill -9 of an agent that leads a third: all READY again after ${seconds(await ledIn(third, isNot('a1')))}`,
  );
  await ledIn(third, (node) => node === 'a1');
  await agents[1]?.kill9();
  const second = roots.filter((_, at) => at % names.length === 1);
  say(
    `kill -9 of an agent and its guardian: all READY again after ${seconds(await ledIn(second, isNot('b1')))}`,
  );
  await leaveAll(agents);
}

function isNot(name: string): (node: string) => boolean {
  return (node) => node !== '' && node !== name;
}

/** Measures a hundred groups with hooks. If `hangs`, the takeover hook of the first group hangs. */
async function withHooks(hangs: boolean): Promise<void> {
  const parent = hangs ? '/hangs' : '/hooks';
  const roots = Array.from({ length: 100 }, (_, index) => `${parent}/g${String(index).padStart(3, '0')}`);
  const hooks = ['hooks:', '  onTakeover: sleep 100000 &', '  onRelease: exit 0'];
  const entry = (_root: string, index: number) =>
    hangs && index === 0 ? ['hooks: { onTakeover: sleep 100000 }'] : [];
  const [stuck = '', ...others] = roots;
  const which = hangs ? '100 groups with hooks, of which one hangs' : '100 groups with hooks';
  const agents = await Promise.all(names.map((_, node) => start({ roots, entry, hooks }, node)));
  const ms = await ledIn(others, (node) => node !== '');
  say(`${which}: 99 others READY after ${seconds(ms)}`);
  const leads = await leaderOf(store, stuck);
  const memory = await Promise.all(agents.map(({ agentPid }) => residentMb(agentPid)));
  const guardians = await Promise.all(agents.map(({ pid }) => residentMb(pid)));
  say(
    `the first: ${leads === null ? 'nobody leads' : leads}; agents ${memory.join(', ')} MB; guardians ${guardians.join(', ')} MB`,
  );
  const leaders = await Promise.all(others.map((root) => leaderOf(store, root)));
  const [first = ''] = leaders.filter((node) => node !== null);
  const agent = agents.find((_, index) => names[index] === first);
  process.kill(agent?.agentPid ?? 0, 'SIGKILL');
  const its = others.filter((_, index) => leaders[index] === first);
  say(
    `${which}, kill -9 of the agent that leads ${its.length} of the 99: READY again after ${seconds(await ledIn(its, isNot(first)))}`,
  );
  await leaveAll(agents);
}

try {
  await manyGroups();
  await withHooks(false);
  await withHooks(true);
} catch (error) {
  for (const agent of all) say(agent.stderr.slice(-2_000));
  throw error;
} finally {
  await store.close();
  await java.ensemble.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}
