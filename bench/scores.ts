/**
 * Measures the load of scores on an ensemble. A hundred nodes measure one score each second, on a server of a
 * real ZooKeeper. The program compares five ways, one after the other. Writes and reads are the server's own
 * counts: `mntr` shows the numbers of update and read latencies, and heartbeats count as reads. The first way
 * has no scores, for comparison. Its writes are the leader's lease renewals.
 *
 *   npm run bench:scores                  10 minutes
 *   NODES=20 SECONDS=30 npm run bench:scores
 */
import { Measurements } from '../src/scores/measurements.js';
import { Group } from '../test/support/agent-group.js';
import { until } from '../test/support/until.js';
import { fourLetterWord } from '../test/support/zookeeper/four-letter-word.js';
import { startJavaServer } from '../test/support/zookeeper/java.js';

const size = Number(process.env.NODES ?? 100);
const forSeconds = Number(process.env.SECONDS ?? 60);

interface Way {
  readonly name: string;
  readonly strategy: string;
  /** Returns the score that follows one second after `value`. Null if the nodes measure no scores. */
  readonly next: ((value: number, second: number) => number) | null;
}

const jitter = (_value: number, second: number) => (second % 2 === 0 ? 1020 : 980);
const drift = (value: number) => value * 1.02;
const ways: readonly Way[] = [
  { name: 'no scores', strategy: 'site-priority', next: null },
  { name: 'they stand still, and are compared', strategy: 'request', next: (value) => value },
  { name: 'they jitter by 4 %, and are compared', strategy: 'request', next: jitter },
  { name: 'they drift by 2 % a second, and are compared', strategy: 'request', next: drift },
  { name: 'they drift by 2 % a second, and are not compared', strategy: 'site-priority', next: drift },
];

const server = await startJavaServer({});
console.log(`${size} nodes, ${forSeconds} s each; a second, as the server counted:`);
try {
  for (const way of ways) await measure(way);
} finally {
  await server.stop();
}

async function measure(way: Way): Promise<void> {
  await using group = await Group.found(server.connectString, { strategy: way.strategy });
  const scores = Array.from({ length: size }, () => new Measurements());
  const start = (measurements: Measurements, index: number) =>
    group.start(nodeName(index), { measurements, sessionTimeoutMs: 10_000 });
  const members = scores.map(start);
  await Promise.all(members.map((member) => member.joined()));
  let value = 1000;
  const score = (second: number) => {
    if (way.next === null) return;
    value = way.next(value, second);
    for (const measurements of scores) measurements.report('requests', value);
  };
  score(0);
  await until(() => members.some(({ status }) => status.leads), { timeoutMs: 60_000 });
  // Elector and leader are different nodes in each way, because a node that is both has more election rounds.
  const leader = members.findLast(({ status }) => !status.elector)?.node ?? nodeName(0);
  await group.switchover(leader);
  await group.ready(leader, 60_000);
  // The pause keeps the cost of joining and of the first reports out of the counts.
  await pause(15_000);
  const before = await served();
  const startedAtMs = performance.now();
  for (let second = 1; second <= forSeconds; second++) {
    score(second);
    await pause(startedAtMs + second * 1000 - performance.now());
  }
  const seconds = (performance.now() - startedAtMs) / 1000;
  const after = await served();
  const writes = ((after.writes - before.writes) / seconds).toFixed(2);
  const reads = ((after.reads - before.reads) / seconds).toFixed(2);
  console.log(`${way.name}: ${writes} writes, ${reads} reads`);
}

function nodeName(index: number): string {
  return `n${String(index).padStart(3, '0')}`;
}

async function served(): Promise<{ readonly writes: number; readonly reads: number }> {
  const text = await until(() => fourLetterWord(server.connectString, 'mntr'));
  const count = (name: string) => Number(new RegExp(`^zk_cnt_${name}\\s+(\\d+)`, 'm').exec(text)?.[1]);
  return { writes: count('updatelatency'), reads: count('readlatency') };
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs));
}
