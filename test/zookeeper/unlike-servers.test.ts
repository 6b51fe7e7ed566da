/**
 * Tests servers that grant different timeouts for one session. In an ensemble, this happens while its limits
 * are being changed server by server.
 */
import { describe, expect, it } from 'vitest';
import { until } from '../support/until.js';
import { FakeServer, type Script } from './fake-server.js';
import { connectedProbe } from './probe.js';

/** Grants one of these timeouts on each connection, in order. Closes the connection on any request. */
function granting(...timeoutsMs: readonly number[]): Script {
  return {
    handshake: (talk) => talk.grant({ timeoutMs: timeoutsMs[talk.index] ?? timeoutsMs.at(-1) ?? 0 }),
    request: (talk) => talk.end(),
  };
}

describe('V2 the timeout of a session', () => {
  it.each([
    { granted: [400, 2000], counts: 400 },
    { granted: [2000, 400], counts: 400 },
    { granted: [2000, 400, 2000], counts: 400 },
    { granted: [2000, 2000], counts: 2000 },
  ])('V2 is the smallest of $granted', async ({ granted, counts }) => {
    await using fake = await FakeServer.start(granting(...granted));
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs: 2000 });
    for (const [index] of granted.slice(1).entries()) {
      await ours.store.getData('/a').catch(() => undefined);
      await until(() => fake.talks.length > index + 1 && ours.store.state === 'CONNECTED');
    }
    expect(ours.store.sessionId).toBe(7n);
    expect(ours.store.negotiatedTimeoutMs).toBe(counts);
  });

  it('V2 pings come as often as the smallest calls for', async () => {
    await using fake = await FakeServer.start(granting(2_000, 600_000));
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs: 600_000 });
    await ours.store.getData('/a').catch(() => undefined);
    await until(() => fake.talks.slice(1).some(({ pings }) => pings >= 2));
    expect(ours.states).not.toContain('LOST');
  });
});
