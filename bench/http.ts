/**
 * How long /leader takes to answer, while leadership is handed over and while nothing happens. Every node is asked
 * over a connection of its own, a hundred times a second, which is more than load balancers do. Three agents and Petrel's
 * development ZooKeeper, each in a process of its own.
 *
 *   npm run bench:http             20 handovers, about a minute
 *   ROUNDS=3 npm run bench:http
 *   HOOK='exit 0' npm run bench:http   hooks that take no time instead of a second each: a handover is then nothing but
 *                                      the moments in which all nodes of the group share the machine's cores
 *   PAUSE_MS=1 npm run bench:http  from an answer to the next question; 10 else
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverSchema } from '../src/cli/commands/zookeeper.js';
import { DevAgents } from '../src/dev/agents.js';
import { devHttp } from '../src/dev/http.js';
import { systemClock } from '../src/ports/clock.js';
import { buildCommandLine } from '../test/support/build.js';
import { type Check, LeaderChecks } from '../test/support/leader-checks.js';
import { until } from '../test/support/until.js';

/** What a node does when it takes over, and when it releases. */
const hook = process.env.HOOK ?? 'sleep 1';
const rounds = Number(process.env.ROUNDS ?? 20);
const quietMs = 1_000;
const patience = { timeoutMs: 60_000 };
const sites = { a1: 'a', a2: 'a', b1: 'b' };

const main = await buildCommandLine();
const dir = await mkdtemp(join(tmpdir(), 'petrel-bench-http-'));
const zookeeper = spawn(process.execPath, [main, 'zookeeper', '--port', '0', '-f', 'json'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [greeting] = await once(zookeeper.stdout, 'data');
const { connectString } = serverSchema.parse(JSON.parse(String(greeting)));
const http = await devHttp(Object.keys(sites), dir);
const agents = new DevAgents({
  petrel: [process.execPath, main],
  sites,
  flags: [
    ...['--zookeeper', connectString, '--state-dir', join(dir, 'state'), '--log-level', 'fatal'],
    ...['--on-takeover', hook, '--on-release', hook],
  ],
  flagsOf: http.flagsOf,
  output: 'ignore',
});
const token = (await readFile(http.tokenFile, 'utf8')).trim();

/** From asking to READY, on the monotonic clock. */
const transitions: { readonly fromMs: number; readonly toMs: number }[] = [];
const checks = new LeaderChecks({ connections: 1, pauseMs: Number(process.env.PAUSE_MS ?? 10) });
try {
  agents.startAll();
  for (const node of agents.nodes) checks.add(node, http.urlOf(node));
  await until(() => leaderSince(0), patience);
  for (let round = 0; round < rounds; round++) {
    await sleep(quietMs);
    await handOver();
  }
} finally {
  await checks[Symbol.asyncDispose]();
  await agents[Symbol.asyncDispose]();
  zookeeper.kill();
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
}

const began = transitions[0]?.fromMs ?? 0;
const measured = checks.checks.filter(({ sentAtMs }) => sentAtMs > began - quietMs);
report('while leadership is handed over', measured.filter(isInTransition));
report(
  'while nothing happens',
  measured.filter((check) => !isInTransition(check)),
);

async function handOver(): Promise<void> {
  const old = await until(() => leaderSince(systemClock.monotonicMs() - 100), patience);
  const fromMs = systemClock.monotonicMs();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${http.urlOf(old.node)}/switchover`, { method: 'POST', headers });
  if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
  await until(() => {
    const leader = leaderSince(fromMs);
    return leader !== undefined && leader.node !== old.node;
  }, patience);
  transitions.push({ fromMs, toMs: systemClock.monotonicMs() });
}

function leaderSince(sinceMs: number): Check | undefined {
  return checks.checks.findLast(({ code, sentAtMs }) => code === 200 && sentAtMs >= sinceMs);
}

function isInTransition({ sentAtMs, receivedAtMs }: Check): boolean {
  return transitions.some(({ fromMs, toMs }) => receivedAtMs >= fromMs && sentAtMs <= toMs);
}

function report(what: string, some: readonly Check[]): void {
  const tookMs = some.map(({ sentAtMs, receivedAtMs }) => receivedAtMs - sentAtMs).toSorted((a, b) => a - b);
  const at = (share: number) => (tookMs[Math.floor((tookMs.length - 1) * share)] ?? Number.NaN).toFixed(2);
  console.log(
    `/leader ${what}: ${tookMs.length} answers, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  );
}
