import { describe, expect, it } from 'vitest';
import { createFlags } from '../../src/embedded/tree.js';
import { startStopwatch } from '../support/stopwatch.js';
import { contractSetting, tickTimeMs } from './setting.js';
import { Disconnected } from './wire-client.js';

const setting = contractSetting();

describe('a handshake', () => {
  it('gives a session with a password of 16 bytes', async () => {
    const client = await setting.connect();
    expect(client.sessionId).not.toBe(0n);
    expect(client.password).toHaveLength(16);
    const other = await setting.connect();
    expect(other.sessionId).not.toBe(client.sessionId);
    expect(other.password).not.toEqual(client.password);
  });

  it('grants between two and twenty ticks', async () => {
    for (const [requested, granted] of [
      [1, 2 * tickTimeMs],
      [0, 2 * tickTimeMs],
      [-5, 2 * tickTimeMs],
      [4321, 4321],
      [999_999, 20 * tickTimeMs],
    ] as const) {
      expect((await setting.connect({ timeoutMs: requested })).timeoutMs, `requested ${requested}`).toBe(
        granted,
      );
    }
  });

  it('is refused, without an answer, to a client that has seen the future', async () => {
    const client = await setting.connect();
    const { zxid } = await client.ping();
    await expect(setting.connect({ lastZxidSeen: zxid + 1000n })).rejects.toThrow(Disconnected);
    expect((await setting.connect({ lastZxidSeen: zxid })).sessionId).not.toBe(0n);
  });

  it('is understood without the read-only flag of newer clients', async () => {
    const client = await setting.dial();
    await client.shakeHands({ readOnlyFlag: false });
    expect(client.sessionId).not.toBe(0n);
    expect((await client.ping()).error).toBe('OK');
  });
});

describe('a session', () => {
  it('goes on with its id and password on another connection', async () => {
    const first = await setting.connect();
    await first.create(`${setting.root}/e`, { flags: createFlags.ephemeral });
    const { sessionId, password } = first;
    await first.disconnect();
    const second = await setting.connect({ sessionId, password, timeoutMs: 3000 });
    expect(second).toMatchObject({ sessionId, password, timeoutMs: 3000 });
    expect((await second.stat(`${setting.root}/e`)).ephemeralOwner).toBe(sessionId);
  });

  it('has one connection: a newer one ends the older', async () => {
    const first = await setting.connect();
    const { sessionId, password } = first;
    const second = await setting.connect({ sessionId, password });
    await expect(first.ping()).rejects.toThrow(Disconnected);
    expect((await second.ping()).error).toBe('OK');
  });

  it('is not given to a wrong password, and outlives the attempt', async () => {
    const owner = await setting.connect();
    await owner.create(`${setting.root}/e`, { flags: createFlags.ephemeral });
    const { sessionId, password } = owner;
    await owner.disconnect();
    for (const wrong of [Buffer.alloc(16), Buffer.alloc(0), Buffer.alloc(16, 7)]) {
      const thief = await setting.connect({ sessionId, password: wrong });
      expect(thief).toMatchObject({ sessionId: 0n, timeoutMs: 0 });
      await expect(thief.ping()).rejects.toThrow(Disconnected);
    }
    const back = await setting.connect({ sessionId, password });
    expect(back.sessionId).toBe(sessionId);
    expect((await back.stat(`${setting.root}/e`)).ephemeralOwner).toBe(sessionId);
  });

  it('that never was is over', async () => {
    const client = await setting.connect({ sessionId: 0x1234n, password: Buffer.alloc(16) });
    expect(client).toMatchObject({ sessionId: 0n, timeoutMs: 0 });
    await expect(client.ping()).rejects.toThrow(Disconnected);
  });

  it('ends when closed: reply, then the connection, then no way back', async () => {
    const watcher = await setting.connect();
    const client = await setting.connect();
    const { sessionId, password } = client;
    await client.create(`${setting.root}/e`, { flags: createFlags.ephemeral });
    expect((await client.closeSession()).error).toBe('OK');
    await expect(client.ping()).rejects.toThrow(Disconnected);
    expect((await watcher.read('exists', `${setting.root}/e`)).error).toBe('NO_NODE');
    expect((await setting.connect({ sessionId, password })).sessionId).toBe(0n);
  });

  it('can be ended by any client that knows its id and password', async () => {
    const owner = await setting.connect();
    await owner.create(`${setting.root}/e`, { flags: createFlags.ephemeral });
    const { sessionId, password } = owner;
    const candidate = await setting.connect({ sessionId, password });
    await candidate.closeSession();
    const watcher = await setting.connect();
    expect((await watcher.read('exists', `${setting.root}/e`)).error).toBe('NO_NODE');
  });

  it('answers requests in the order they were sent', async () => {
    const client = await setting.connect();
    const path = `${setting.root}/a`;
    const replies = await Promise.all([
      client.create(path),
      client.setData(path, '1'),
      client.read('exists', path),
      client.delete(path, 1),
      client.read('exists', path),
      client.ping(),
    ]);
    expect(replies.map(({ error }) => error)).toEqual(['OK', 'OK', 'OK', 'OK', 'NO_NODE', 'OK']);
  });
});

describe('expiry', () => {
  const timeoutMs = 6 * tickTimeMs;

  it('ends a silent session no earlier than its timeout, and soon after', async () => {
    const watcher = await setting.connect();
    const client = await setting.connect({ timeoutMs });
    const { sessionId, password } = client;
    // Before the request: the server restarts the timeout before it replies.
    const heardAtMs = performance.now();
    using sinceHeard = startStopwatch();
    await client.create(`${setting.root}/e`, { flags: createFlags.ephemeral });
    expect((await watcher.read('exists', `${setting.root}/e`, true)).error).toBe('OK');
    await client.disconnect();
    while (watcher.events.length === 0) await watcher.ping();
    expect(performance.now() - heardAtMs).toBeGreaterThanOrEqual(timeoutMs - 20);
    expect(sinceHeard.ms).toBeLessThan(timeoutMs + 2 * tickTimeMs + 4_000);
    expect((await setting.connect({ sessionId, password })).sessionId).toBe(0n);
  });

  it('closes the connection of a client that is only silent', async () => {
    const client = await setting.connect({ timeoutMs });
    await expect(client.receiveNothing()).rejects.toThrow(Disconnected);
  });

  it('is put off by pings', async () => {
    const client = await setting.connect({ timeoutMs });
    const endsAtMs = performance.now() + 2 * timeoutMs;
    while (performance.now() < endsAtMs) {
      expect((await client.ping()).error).toBe('OK');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
});
