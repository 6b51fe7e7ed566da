import { expect, it } from 'vitest';
import { CountingProxy, requestCount, trafficBetween } from '../../bench/counting-proxy.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { startEmbeddedServer } from '../support/zookeeper/embedded.js';

const none = Buffer.alloc(0);

it('counts the requests of a client by kind, and the notifications that it receives', async () => {
  await using server = await startEmbeddedServer({});
  const proxy = await CountingProxy.start(server.connectString);
  const store = openStore({ servers: parseConnectionString(proxy.address), sessionTimeoutMs: 6_000 });
  try {
    await store.connected();
    const before = proxy.traffic;
    await store.create('/a', none, 'persistent');
    await store.exists('/a', { watch: true });
    await store.set('/a', none, 'any');
    await store.delete('/a', 'any');
    const { requests, notifications, bytes, notificationBytes } = trafficBetween(before, proxy.traffic);
    const { create = 0, create2 = 0, ...others } = requests;
    expect(create + create2).toBe(1);
    expect(others).toEqual({ exists: 1, setData: 1, delete: 1 });
    expect(requestCount({ requests })).toBe(4);
    expect(notifications).toBe(1);
    expect(notificationBytes).toBeLessThan(bytes);
    expect(notificationBytes).toBeGreaterThan(0);
  } finally {
    await store.close();
    await proxy.stop();
  }
});
