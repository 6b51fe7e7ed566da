/**
 * A scheduler of which only one instance is active. Each process joins the group, and the leader runs the job
 * every `INTERVAL_MS`. Stop a process with SIGTERM or Ctrl-C: it hands over before it exits.
 *
 * Run it in a clone while `npm start` is running, and again with another NODE_ID:
 *
 *   ZOOKEEPER=127.0.0.1:2181 NODE_ID=a node examples/node-service/scheduler.mjs
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Petrel } from 'petrel';

const { ZOOKEEPER = '127.0.0.1:2181', ROOT = '/scheduler', NODE_ID, INTERVAL_MS = '1000' } = process.env;

const petrel = await Petrel.join({ zookeeper: ZOOKEEPER, root: ROOT, nodeId: NODE_ID });
console.log(`${petrel.status.node}: joined`);

petrel.lead(async (leadership, signal) => {
  console.log(`${petrel.status.node}: leading in term ${leadership.term}: ${leadership.reason}`);
  while (!signal.aborted) {
    await runJob(signal);
    // The sleep ends early when the signal aborts, so that leadership can end immediately.
    await sleep(Number(INTERVAL_MS), undefined, { signal }).catch(() => {});
  }
});

petrel.on('follower', () => console.log(`${petrel.status.node}: no longer leading`));
petrel.on('failed', (error) => {
  console.error(error);
  process.exitCode = 1;
});

for (const name of ['SIGTERM', 'SIGINT']) process.once(name, () => petrel.close());

/** @param {AbortSignal} signal */
async function runJob(signal) {
  // Pass the signal to every call that takes long, such as fetch(url, { signal }) or spawn(program, args, {
  // signal }).
  if (!signal.aborted) console.log(`${petrel.status.node}: job done`);
}
