/**
 * Measures for how long no node works after a fault of the leader: its agent, workload or guardian is killed,
 * or its agent hangs. The time runs from the signal to the start of the successor's command. Three nodes of
 * `petrel run` use three servers of a real ZooKeeper. For comparison, each round also kills a leader of
 * kazoo's Election recipe. For a hanging agent, the program also prints the lease that remained when its
 * workload was proven dead. It also reports whether two commands have ever run at the same time.
 *
 *   npm run bench:deaths             30 rounds, about 10 minutes
 *   ROUNDS=3 npm run bench:deaths
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawnBound } from '../test/support/bound-process.js';
import { buildCommandLine } from '../test/support/build.js';
import { PetrelProcess } from '../test/support/petrel-process.js';
import { isAlive } from '../test/support/process-list.js';
import { uniqueRoot } from '../test/support/unique-root.js';
import { until } from '../test/support/until.js';
import { startOpenJavaEnsemble } from '../test/support/zookeeper/java.js';
import { epochAheadMs } from './clocks.js';
import { parseLine } from './lines.js';

const rounds = Number(process.env.ROUNDS ?? 30);
const sessionTimeoutMs = 6_000;
const patience = { timeoutMs: 60_000 };
const kazoo = fileURLToPath(new URL('peers/kazoo-election.py', import.meta.url));

const main = await buildCommandLine();
const directory = await mkdtemp(join(tmpdir(), 'petrel-deaths-'));
const notes = join(directory, 'notes');
await writeFile(notes, '');
const java = await startOpenJavaEnsemble(3, { tickTimeMs: 500 });
const { connectString } = java.ensemble;
const root = uniqueRoot('deaths');

/**
 * The command records its start and whether it is the only one, and then only sleeps. It holds the lock as
 * long as it runs.
 */
const command = `at=$(date +%s%N); exec 9>>${directory}/lock
flock -n 9 && alone=alone || alone=overlap
echo "$PETREL_NODE $$ $at $alone" >>${notes}
exec sleep 86400`;

interface Start {
  readonly node: string;
  readonly pid: number;
  /** Start of the command, in milliseconds since the epoch, with a fraction. */
  readonly atMs: number;
  readonly isAlone: boolean;
}

async function starts(): Promise<Start[]> {
  const lines = (await readFile(notes, 'utf8')).split('\n').slice(0, -1);
  return lines.map((line) => {
    const [node = '', pid, at, alone] = line.split(' ');
    return { node, pid: Number(pid), atMs: Number(at) / 1e6, isAlone: alone === 'alone' };
  });
}

const nodes = new Map<string, PetrelProcess>();

async function run(node: string): Promise<void> {
  const stateDir = join(directory, node);
  const flags = ['--restart', 'on-failure', '--restart-limit', '0', '--state-dir', stateDir];
  const child = spawnBound(process.execPath, [main, 'run', ...flags, '--', '/bin/sh', '-c', command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      PETREL_LISTEN: 'off',
      HOME: directory,
      PETREL_ZOOKEEPER: connectString,
      PETREL_ROOT: root,
      PETREL_NODE_ID: node,
      PETREL_SITE: node.slice(0, 1),
      PETREL_SESSION_TIMEOUT: `${sessionTimeoutMs}ms`,
      PETREL_LOG_FORMAT: 'json',
    },
  });
  const started = new PetrelProcess(child, stateDir, null);
  nodes.set(node, started);
  await started.logged(/^joined/, patience);
}

function nodeOf(name: string): PetrelProcess {
  const node = nodes.get(name);
  if (node === undefined) throw new Error(`no node ${name}`);
  return node;
}

/** Returns the start of the command on the node that works, once all nodes are running. */
async function settled(): Promise<Start> {
  for (const [name, node] of nodes) if (!node.running) await run(name);
  await until(() => [...nodes.values()].every(({ agentPid }) => agentPid !== null), patience);
  return await until(async () => {
    const last = (await starts()).at(-1);
    return last !== undefined && isAlive(last.pid) ? last : null;
  }, patience);
}

function epochMs(): number {
  return performance.timeOrigin + performance.now();
}

interface Sample {
  readonly gapMs: number;
  /** Remaining lease of a hanging agent when its workload was proven dead. Null after any other fault. */
  readonly leaseLeftMs: number | null;
}

const deaths = {
  'kill -9 of the agent': (node: PetrelProcess) => process.kill(node.agentPid ?? 0, 'SIGKILL'),
  'kill -9 of the workload': (_node: PetrelProcess, workload: number) => process.kill(workload, 'SIGKILL'),
  'kill -9 of the guardian': (node: PetrelProcess) => process.kill(node.pid, 'SIGKILL'),
  'SIGSTOP of the agent': (node: PetrelProcess) => process.kill(node.agentPid ?? 0, 'SIGSTOP'),
} as const;

const ways = [
  'kill -9 of the agent',
  'kill -9 of the workload',
  'kill -9 of the guardian',
  'SIGSTOP of the agent',
] as const;

async function die(how: keyof typeof deaths): Promise<Sample> {
  const before = await settled();
  // The pause is random, so that the signal comes at varying points of the heartbeat interval.
  await pause(500 + Math.random() * 2_000);
  const node = nodeOf(before.node);
  const heard = node.log.length;
  const agent = node.agentPid;
  const atMs = epochMs();
  deaths[how](node, before.pid);
  const next = await until(async () => (await starts()).find((start) => start.atMs > atMs) ?? null, patience);
  let leaseLeftMs: number | null = null;
  if (how === 'SIGSTOP of the agent') {
    const line = await node.logged(/guardian ran the release/, { after: heard, ...patience });
    leaseLeftMs = Number(line.leaseLeftMs);
    node.resume();
    await node.logged(/^joined/, { after: heard, ...patience });
  } else if (how === 'kill -9 of the agent') await node.logged(/^joined/, { after: heard, ...patience });
  else if (how === 'kill -9 of the guardian' && agent !== null) await until(() => !isAlive(agent), patience);
  return { gapMs: next.atMs - atMs, leaseLeftMs };
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs));
}

// -- The leader of kazoo's recipe

class Peer {
  readonly child: ChildProcess;
  leadsSinceMs: number | null = null;

  constructor(name: string) {
    const args = [kazoo, connectString, `${root}-kazoo`, String(sessionTimeoutMs), name, '1'];
    this.child = spawnBound('/usr/bin/python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    if (this.child.stdout === null) throw new Error('a process without an output');
    createInterface({ input: this.child.stdout }).once('line', (line) => {
      this.leadsSinceMs = (parseLine(line)?.atMs ?? Number.NaN) + epochAheadMs();
    });
  }
}

let peers: Peer[] = [];

async function killPeer(): Promise<Sample> {
  const leader = await until(() => peers.find(({ leadsSinceMs }) => leadsSinceMs !== null), patience);
  await pause(500 + Math.random() * 2_000);
  const others = peers.filter((peer) => peer !== leader);
  const atMs = epochMs();
  leader.child.kill('SIGKILL');
  const next = await until(() => others.find(({ leadsSinceMs }) => leadsSinceMs !== null), patience);
  peers = [...others, new Peer(`again-${atMs}`)];
  return { gapMs: (next.leadsSinceMs ?? 0) - atMs, leaseLeftMs: null };
}

// -- The rounds

async function eachDeath(): Promise<void> {
  for (const how of ways) samples.get(how)?.push(await die(how));
}

const kazooKilled = "kill -9 of a leader of kazoo's Election";
const samples = new Map<string, Sample[]>([...Object.keys(deaths), kazooKilled].map((how) => [how, []]));

try {
  for (const node of ['a1', 'a2', 'b1']) await run(node);
  peers = ['one', 'two', 'three'].map((name) => new Peer(name));
  for (let round = 1; round <= rounds; round++) {
    // The two groups are independent: neither waits for the expiry of the other's session.
    const [peer] = await Promise.all([killPeer(), eachDeath()]);
    samples.get(kazooKilled)?.push(peer);
    if (process.stderr.isTTY) process.stderr.write(`round ${round} of ${rounds}\r`);
  }
  report();
  await reportGuardians();
} finally {
  for (const node of nodes.values()) await node.stop();
  for (const { child } of peers) child.kill('SIGKILL');
  await java.ensemble.stop();
  await rm(directory, { recursive: true, force: true });
}

function report(): void {
  const reference = median(gaps(kazooKilled));
  console.log(
    `${rounds} rounds, session timeout ${sessionTimeoutMs} ms; until the successor's command starts, in ms`,
  );
  for (const how of samples.keys()) {
    const all = gaps(how);
    const ratio =
      how === kazooKilled ? '' : `, ${(reference / median(all)).toFixed(1)} times as fast as kazoo`;
    console.log(
      `${how}: minimum ${ms(Math.min(...all))}, median ${ms(median(all))}, maximum ${ms(Math.max(...all))}${ratio}`,
    );
  }
  const left = (samples.get('SIGSTOP of the agent') ?? []).map(
    ({ leaseLeftMs }) => leaseLeftMs ?? Number.NaN,
  );
  const inTime = left.filter((margin) => margin > 0).length;
  console.log(
    `SIGSTOP of the agent: workload dead before the lease's end in ${inTime} of ${left.length}; ` +
      `left of the lease: minimum ${ms(Math.min(...left))}, median ${ms(median(left))}, maximum ${ms(Math.max(...left))}`,
  );
}

async function reportGuardians(): Promise<void> {
  const all = await starts();
  console.log(
    `commands started: ${all.length}; next to another: ${all.filter(({ isAlone }) => !isAlone).length}`,
  );
  for (const [name, { pid }] of nodes) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    console.log(`guardian of ${name}: ${/VmRSS:\s*(\d+ kB)/.exec(status)?.[1]} resident`);
  }
}

function gaps(how: string): number[] {
  return (samples.get(how) ?? []).map(({ gapMs }) => gapMs);
}

function median(all: readonly number[]): number {
  return all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? Number.NaN;
}

function ms(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0);
}
