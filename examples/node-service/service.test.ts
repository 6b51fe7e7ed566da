/**
 * Shows how to test a service that leads, with a ZooKeeper in the test's own process. It needs no Docker,
 * Java or mocks.
 */
import { Petrel } from 'petrel';
import { startDevelopmentServer } from 'petrel/testing';
import { expect, test, vi } from 'vitest';

/** The service under test. It responds only while its node leads. */
function serve(petrel: Petrel): { readonly answers: boolean } {
  const service = { answers: false };
  petrel.lead(async (_, signal) => {
    service.answers = true;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    service.answers = false;
  });
  return service;
}

test('one instance answers, and the other takes over when it leaves', async () => {
  await using zooKeeper = await startDevelopmentServer();
  const join = (nodeId: string) => Petrel.join({ zookeeper: zooKeeper.connectString, nodeId });

  await using a = await join('a');
  const first = serve(a);
  await vi.waitUntil(() => first.answers, { timeout: 20_000 });

  await using b = await join('b');
  const second = serve(b);
  expect(second.answers).toBe(false);

  await a.close();
  await vi.waitUntil(() => second.answers, { timeout: 20_000 });
  expect(first.answers).toBe(false);
});

test('an instance that loses its session stops answering, and another one answers', async () => {
  await using zooKeeper = await startDevelopmentServer();
  await using a = await Petrel.join({ zookeeper: zooKeeper.connectString, nodeId: 'a' });
  const first = serve(a);
  await vi.waitUntil(() => first.answers, { timeout: 20_000 });
  const [session = 0n] = zooKeeper.requestCounts().keys();

  await using b = await Petrel.join({ zookeeper: zooKeeper.connectString, nodeId: 'b' });
  const second = serve(b);
  zooKeeper.expireSession(session);
  await vi.waitUntil(() => second.answers && !first.answers, { timeout: 20_000 });
});
