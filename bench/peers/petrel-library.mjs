/**
 * Runs participants of a group with Petrel's built library, and reports when they lead. Its arguments are
 * CONNECT ROOT SESSION_MS NAME COUNT.
 *
 * bench/lines.ts describes the output of such programs, and the commands on their input.
 */
import { createInterface } from 'node:readline';
import { Petrel } from 'petrel';

const [connect, root, sessionMs, name, count] = process.argv.slice(2);
const participants = new Map();

function say(what, who) {
  const atUs = process.hrtime.bigint() / 1000n;
  const micros = String(atUs % 1_000_000n).padStart(6, '0');
  process.stdout.write(`${what} ${who} monotonic ${atUs / 1_000_000n}.${micros}\n`);
}

async function join(who) {
  const petrel = await Petrel.join({
    zookeeper: connect,
    root,
    nodeId: who,
    site: 'here',
    sessionTimeout: `${sessionMs}ms`,
  });
  participants.set(who, petrel);
  const work = (_leadership, signal) =>
    new Promise((resolve) => {
      const release = () => {
        say('released', who);
        resolve();
      };
      signal.addEventListener('abort', release, { once: true });
      if (signal.aborted) release();
    });
  petrel.lead(work, { takeover: async () => say('leads', who) });
}

async function leave(who) {
  const petrel = participants.get(who);
  participants.delete(who);
  if (petrel === undefined) return;
  say('leaves', who);
  await petrel.close();
}

// A second signal is ignored. A participant that is killed while it leaves would stay in the queue until its
// session expires.
let isLeaving = false;
process.on('SIGTERM', async () => {
  if (isLeaving) return;
  isLeaving = true;
  await Promise.all([...participants.keys()].map(leave));
  process.exit(0);
});
createInterface({ input: process.stdin }).on('line', (line) => {
  const [verb, who] = line.split(' ');
  if (verb === 'join') void join(who);
  else if (verb === 'leave') void leave(who);
});

// Participants join one after the other, like those of the other contenders.
const many = Number(count);
for (let index = 0; index < many; index++) await join(many === 1 ? name : `${name}-${index}`);
