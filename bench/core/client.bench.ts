/** Measures the operations per second of Petrel's client, on one server that does not wait for its disk. */
import { afterAll, bench, describe } from 'vitest';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { startEmbeddedServer } from '../../test/support/zookeeper/embedded.js';
import { javaIsMissing, startJavaServer } from '../../test/support/zookeeper/java.js';

const isEmbedded = javaIsMissing() !== undefined;
const server = await (isEmbedded ? startEmbeddedServer({}) : startJavaServer({}));
const store = openStore({ servers: parseConnectionString(server.connectString), sessionTimeoutMs: 30_000 });
await store.connected();
const data = Buffer.alloc(300, 'x');
await store.create('/bench', data, 'persistent');
const atOnce = Array.from({ length: 100 });

afterAll(async () => {
  await store.close();
  await server.stop();
});

describe(isEmbedded ? 'the development server, in this process' : 'ZooKeeper', () => {
  bench('one read', async () => {
    await store.getData('/bench');
  });
  bench('a hundred reads at once', async () => {
    await Promise.all(atOnce.map(() => store.getData('/bench')));
  });
  bench('one write', async () => {
    await store.set('/bench', data, 'any');
  });
  bench('a hundred writes at once', async () => {
    await Promise.all(atOnce.map(() => store.set('/bench', data, 'any')));
  });
  bench('one multi of two checks, as a lease is renewed', async () => {
    await store.multi([
      { type: 'check', path: '/bench', version: 'any' },
      { type: 'check', path: '/', version: 'any' },
    ]);
  });
});
