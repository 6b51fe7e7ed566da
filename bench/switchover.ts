/**
 * Measures a planned switchover, from the old leader's release to the new leader's takeover. The hooks do
 * nothing. The result is a multiple of one create-and-delete round trip on the same ensemble. Switchovers and
 * round trips are measured alternately.
 *
 *   npm run bench:switchover                             a new ensemble, chosen as in the tests
 *   PETREL_ZOOKEEPER=host:2181 npm run bench:switchover  a running ensemble
 */
import { Group, type Member } from '../test/support/agent-group.js';
import { chooseZooKeeper } from '../test/support/zookeeper/choose.js';
import { startServerOf } from '../test/support/zookeeper/start.js';

const rounds = Number(process.env.ROUNDS ?? 50);
const warmUpRounds = 5;

const given = process.env.PETREL_ZOOKEEPER;
const choice = given === undefined ? await chooseZooKeeper('auto') : null;
const server = choice === null ? null : await startServerOf(choice, {});
const connectString = given ?? server?.connectString ?? '';
console.log(`ZooKeeper: ${choice?.description ?? given}`);

const group = await Group.found(connectString);
const [, a, b] = await group.startInOrder(['elector', 'a', 'b'], { sessionTimeoutMs: 10_000 });
if (a === undefined || b === undefined) throw new Error('three nodes');

const handoversMs: number[] = [];
const roundTripsMs: number[] = [];
await handover(a);
for (let round = 0; round < rounds + warmUpRounds; round++) {
  const roundTripMs = await createAndDelete();
  const handoverMs = await handover(round % 2 === 0 ? b : a);
  if (round < warmUpRounds) continue;
  roundTripsMs.push(roundTripMs);
  handoversMs.push(handoverMs);
}

report('create and delete', roundTripsMs);
report('release ended to takeover started', handoversMs);
console.log(`ratio of the medians: ${(median(handoversMs) / median(roundTripsMs)).toFixed(2)}`);

await group[Symbol.asyncDispose]();
await group.store.delete(group.root, 'any').catch(() => {});
await server?.stop();

async function createAndDelete(): Promise<number> {
  const path = `${group.root}/bench`;
  const startedAtMs = performance.now();
  await group.store.create(path, Buffer.alloc(0), 'ephemeral');
  await group.store.delete(path, 'any');
  return performance.now() - startedAtMs;
}

async function handover(to: Member): Promise<number> {
  const from = to === a ? b : a;
  let releasedAtMs = 0;
  let takenAtMs = 0;
  from?.recorded.does('release', () => {
    releasedAtMs = performance.now();
  });
  to.recorded.does('takeover', () => {
    takenAtMs = performance.now();
  });
  await group.switchover(to.node);
  await group.ready(to.node);
  return takenAtMs - releasedAtMs;
}

function report(what: string, lengthsMs: readonly number[]): void {
  const worst = quantile(lengthsMs, 0.95);
  console.log(`${what}: median ${median(lengthsMs).toFixed(2)} ms, 95 % below ${worst.toFixed(2)} ms`);
}

function median(lengthsMs: readonly number[]): number {
  return quantile(lengthsMs, 0.5);
}

function quantile(lengthsMs: readonly number[], share: number): number {
  const sorted = lengthsMs.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
