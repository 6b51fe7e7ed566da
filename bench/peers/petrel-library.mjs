/**
 * Participants of a group by Petrel's library, as it is built, which say when they lead: CONNECT ROOT
 * SESSION_MS NAME COUNT
 *
 * What they print, and what they obey on their input, is in bench/lines.ts.
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

// Told again, it goes on leaving: whoever is killed in that stays in the queue until its session has expired.
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

// In turn, as the other contenders join.
const many = Number(count);
for (let index = 0; index < many; index++) await join(many === 1 ? name : `${name}-${index}`);
