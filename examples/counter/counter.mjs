/**
 * Several processes share a counter in a file that only the newest leader may write. The leader increments
 * the counter. Before the node is READY, its takeover hook claims the file by writing with the new token. The
 * hook then reads the value at which the last leader stopped.
 *
 * Run it in a clone while `npm start` is running, and again with another NODE_ID:
 *
 *   ZOOKEEPER=127.0.0.1:2181 NODE_ID=a FILE=/tmp/counter.json node examples/counter/counter.mjs
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Petrel } from 'petrel';
import { FencedFile } from './fenced-file.mjs';

const { ZOOKEEPER = '127.0.0.1:2181', ROOT = '/counter', NODE_ID, FILE = 'counter.json' } = process.env;

const file = new FencedFile(FILE);
let count = 0;

const petrel = await Petrel.join({ zookeeper: ZOOKEEPER, root: ROOT, nodeId: NODE_ID });

petrel.lead(
  async ({ fencingToken }, signal) => {
    while (!signal.aborted) {
      count += 1;
      // A StaleLeaderError here ends the work. The leadership is already over in that case.
      await file.write(count, fencingToken);
      console.log(`${petrel.status.node}: ${count}`);
      await sleep(50, undefined, { signal }).catch(() => {});
    }
  },
  {
    takeover: async ({ fencingToken, previousLeader }) => {
      // After this write, no older leader can write, so the second read is final.
      await file.write(await file.read(), fencingToken);
      count = Number(await file.read());
      console.log(`${petrel.status.node}: takes over from ${previousLeader ?? 'nobody'} at ${count}`);
    },
  },
);

for (const name of ['SIGTERM', 'SIGINT']) process.once(name, () => petrel.close());
