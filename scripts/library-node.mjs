/** A node of the rehearsal, by the library as it was built: CONNECT ROOT NODE. */
import { Petrel } from 'petrel';

const [zookeeper, root, nodeId] = process.argv.slice(2);
const petrel = await Petrel.join({ zookeeper, root, nodeId, site: 'rehearsal' });
console.log('joined');
process.once('SIGTERM', async () => {
  await petrel.close();
  process.exit(0);
});
petrel.lead(
  (_leadership, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
  { takeover: async () => console.log('leads') },
);
