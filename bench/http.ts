/**
 * Measures the response time of /leader, during handovers and while nothing happens. The program polls each
 * node over a separate connection a hundred times a second, more often than load balancers do. It writes
 * plain bytes, so it contributes little to the result. Three agents and Petrel's development ZooKeeper run in
 * separate processes. For comparison, the program also polls a bare Node.js server that returns a response of
 * the same size. No Node.js program on the same cores could be faster.
 *
 *   npm run bench:http             20 handovers, about a minute
 *   ROUNDS=3 npm run bench:http
 *   HOOK='exit 0' npm run bench:http
 *                                  hooks that take no time instead of a second each: a handover is then only
 *                                  the time in which all nodes of the group share the machine's cores
 *   PAUSE_MS=1 npm run bench:http  pause between a response and the next request; default 10
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverSchema } from '../src/cli/commands/zookeeper.js';
import { DevAgents } from '../src/dev/agents.js';
import { devHttp } from '../src/dev/http.js';
import { systemClock } from '../src/ports/clock.js';
import { buildCommandLine } from '../test/support/build.js';
import { until } from '../test/support/until.js';

/** The command of the takeover hook and of the release hook. */
const hook = process.env.HOOK ?? 'sleep 1';
const rounds = Number(process.env.ROUNDS ?? 20);
const pauseMs = Number(process.env.PAUSE_MS ?? 10);
const quietMs = 1_000;
const bare = 'a bare server';
const bareProgram = `
  const answer = JSON.stringify({ node: 'a1', leads: false, fencingToken: null, text: 'x'.repeat(150) });
  const server = require('node:http').createServer((request, response) => {
    response.writeHead(503, { 'content-type': 'application/json; charset=utf-8' }).end(answer);
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;
const patience = { timeoutMs: 60_000 };
const sites = { a1: 'a', a2: 'a', b1: 'b' };

const main = await buildCommandLine();
const dir = await mkdtemp(join(tmpdir(), 'petrel-bench-http-'));
const zookeeper = spawn(process.execPath, [main, 'zookeeper', '--port', '0', '-f', 'json'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [greeting] = await once(zookeeper.stdout, 'data');
const { connectString } = serverSchema.parse(JSON.parse(String(greeting)));
const bareServer = spawn(process.execPath, ['-e', bareProgram], { stdio: ['ignore', 'pipe', 'inherit'] });
const [barePort] = await once(bareServer.stdout, 'data');
const http = await devHttp(Object.keys(sites), 0, dir);
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

/** Start and end of each handover, from the request to READY, on the monotonic clock. */
const transitions: { readonly fromMs: number; readonly toMs: number }[] = [];
interface Check {
  readonly node: string;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  readonly code: number;
}

const checks: Check[] = [];
const pollers: ChildProcess[] = [];
try {
  agents.startAll();
  for (const node of agents.nodes) ask(node, http.urlOf(node));
  ask(bare, `http://127.0.0.1:${Number(barePort)}`);
  await until(() => leaderSince(0), patience);
  for (let round = 0; round < rounds; round++) {
    await sleep(quietMs);
    await handOver();
  }
} finally {
  for (const poller of pollers) poller.kill();
  await agents[Symbol.asyncDispose]();
  zookeeper.kill();
  bareServer.kill();
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
}

const began = transitions[0]?.fromMs ?? 0;
const measured = checks.filter(({ sentAtMs }) => sentAtMs > began - quietMs);
for (const [when, some] of Object.entries({
  'while leadership is handed over': measured.filter(isInTransition),
  'while nothing happens': measured.filter((check) => !isInTransition(check)),
})) {
  const floor = some.filter(({ node }) => node === bare);
  const own = some.filter(({ node }) => node !== bare);
  report(`/leader ${when}`, own);
  report(`${bare} meanwhile`, floor);
  console.log(`ratio of the p99: ${(at(own, 0.99) / at(floor, 0.99)).toFixed(2)}`);
}

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

/** Polls a node until the polling process is killed. */
function ask(node: string, url: string): void {
  const { hostname, port } = new URL(url);
  const poller = spawn(
    'python3',
    [join(import.meta.dirname, 'ask-leader.py'), hostname, port, String(pauseMs)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  pollers.push(poller);
  createInterface({ input: poller.stdout }).on('line', (line) => {
    const [sentAtMs = 0, receivedAtMs = 0, code = 0] = line.split(' ').map(Number);
    checks.push({ node, sentAtMs, receivedAtMs, code });
  });
}

function leaderSince(sinceMs: number): Check | undefined {
  return checks.findLast(({ code, sentAtMs }) => code === 200 && sentAtMs >= sinceMs);
}

function isInTransition({ sentAtMs, receivedAtMs }: Check): boolean {
  return transitions.some(({ fromMs, toMs }) => receivedAtMs >= fromMs && sentAtMs <= toMs);
}

function report(what: string, some: readonly Check[]): void {
  const [half, most, all] = [0.5, 0.99, 1].map((share) => at(some, share).toFixed(2));
  console.log(`${what}: ${some.length} answers, p50 ${half} ms, p99 ${most} ms, longest ${all} ms`);
}

/** Returns a quantile of the response times, in milliseconds. */
function at(some: readonly Check[], share: number): number {
  const tookMs = some.map(({ sentAtMs, receivedAtMs }) => receivedAtMs - sentAtMs).toSorted((a, b) => a - b);
  return tookMs[Math.floor((tookMs.length - 1) * share)] ?? Number.NaN;
}
