/**
 * Tests how a store finds its servers: by names or addresses, among several servers, and with some of them
 * down.
 */
import type { LookupAddress } from 'node:dns';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { sharedZooKeeper, startEnsemble, supportsEnsemble, uniqueRoot } from '../support/ensemble.js';
import { startProxy } from '../support/proxy.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';
import { FakeServer, type Script } from './fake-server.js';
import { connectedProbe, failureOf, type ProbeOptions, probe } from './probe.js';
import { twoWays } from './two-ways.js';

type Lookup = NonNullable<ProbeOptions['lookup']>;

/** Returns a resolver that knows only these names. For a name whose entry is undefined, it never answers. */
function resolver(names: Record<string, readonly string[] | undefined>): Lookup {
  return (host, _options, callback) => {
    if (!(host in names)) callback(new Error(`getaddrinfo ENOTFOUND ${host}`), []);
    else if (names[host]) callback(null, names[host].map(toAddress));
  };
}

function toAddress(address: string): LookupAddress {
  return { address, family: address.includes(':') ? 6 : 4 };
}

const granting: Script = { handshake: (talk) => talk.grant({ timeoutMs: 2000 }) };
const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

describe('names', () => {
  it('P64 are resolved again for each connection: the session moves with its server', async () => {
    await using before = await FakeServer.start(granting);
    await using after = await FakeServer.start(granting, { host: '127.0.0.2', port: before.port });
    const names = { zk: ['127.0.0.1'] };
    await using ours = await connectedProbe(`zk:${before.port}`, { lookup: resolver(names) });
    names.zk = ['127.0.0.2'];
    before.talks[0]?.destroy();
    await until(() => after.talks.length > 0);
    await ours.store.connected();
    expect(after.talks[0]?.handshake).toMatchObject({ sessionId: 7n });
    expect(ours.states).toEqual(['CONNECTED', 'SUSPENDED', 'CONNECTED']);
    expect(before.talks.length).toBe(1);
  });

  it('P64 that do not resolve do not stop the others, at the start or later', async () => {
    const target = await sharedZooKeeper();
    await using proxy = await startProxy({ target });
    const lookup = resolver({ good: ['127.0.0.1'], silent: undefined });
    const servers = `bad:2181,good:${proxy.port},silent:2181`;
    await using ours = await connectedProbe(servers, { lookup, sessionTimeoutMs: 6000 });
    const { sessionId } = ours.store;
    proxy.resetAll();
    await until(() => ours.states.length > 1);
    await ours.store.connected();
    expect(ours.store.sessionId).toBe(sessionId);
  });

  it('with several addresses: each is tried', async () => {
    await using fake = await FakeServer.start(granting, { host: '127.0.0.3' });
    const lookup = resolver({ zk: ['127.0.0.1', '127.0.0.2', '127.0.0.3'] });
    await using ours = await connectedProbe(`zk:${fake.port}`, { lookup });
    expect(ours.store.state).toBe('CONNECTED');
  });

  it('with several addresses: one that is mute is not tried for ever', async () => {
    await using mute = await FakeServer.start({ handshake: () => undefined });
    await using fake = await FakeServer.start(granting, { host: '127.0.0.2', port: mute.port });
    const lookup = resolver({ zk: ['127.0.0.1', '127.0.0.2'] });
    await using ours = await connectedProbe(`zk:${mute.port}`, { lookup });
    expect([mute.talks.length, fake.talks.length]).toEqual([1, 1]);
    expect(ours.store.state).toBe('CONNECTED');
  });

  it('of this machine work', async () => {
    const byName = (await sharedZooKeeper()).replace('127.0.0.1', 'localhost');
    await using ours = await connectedProbe(byName);
    expect(ours.store.state).toBe('CONNECTED');
  });

  it.skipIf(!hasIpv6)('may be IPv6 addresses', async () => {
    await using fake = await FakeServer.start(granting, { host: '::1' });
    await using ours = await connectedProbe(`[::1]:${fake.port}`);
    expect(ours.store.state).toBe('CONNECTED');
  });
});

describe('servers that are down', () => {
  it('are named when there is no connection in time', async () => {
    await using ours = probe('127.0.0.1:1,bad:2181', { lookup: resolver({ '127.0.0.1': ['127.0.0.1'] }) });
    const error = await failureOf(ours.store.connected({ timeoutMs: 200 }));
    expect(error.code).toBe('TIMEOUT');
    expect(error.message).toContain('127.0.0.1 port 1: connect ECONNREFUSED');
    expect(error.message).toContain('bad:2181: getaddrinfo ENOTFOUND bad');
    expect((await failureOf(ours.store.getData('/'))).code).toBe('CONNECTION_LOSS');
    expect(ours.store).toMatchObject({ state: 'CONNECTING', sessionId: 0n, negotiatedTimeoutMs: 0 });
  });

  it('are waited for at the start, without end', async () => {
    await using proxy = await startProxy({ target: await sharedZooKeeper() });
    proxy.refuse();
    await using ours = probe(proxy.address, { sessionTimeoutMs: 1000 });
    await failureOf(ours.store.connected({ timeoutMs: 1500 }));
    expect(ours.states).toEqual([]);
    await proxy.heal();
    const sinceHealed = startStopwatch();
    await ours.store.connected();
    expect(sinceHealed.ms).toBeLessThan(8000);
  });

  it('are left for another at once, and the session goes on', async () => {
    await using ways = await twoWays();
    await using ours = await connectedProbe(ways.connectString, { sessionTimeoutMs: 9000 });
    const { sessionId } = ours.store;
    const { used } = ways.which();
    used.refuse();
    used.resetAll();
    const sinceCut = startStopwatch();
    await until(() => ours.states.length > 1);
    await ours.store.connected();
    // A server that is silent is left after 6 s.
    expect(sinceCut.ms).toBeLessThan(4000);
    expect(ours.store.sessionId).toBe(sessionId);
  });

  it('that grant no new session are tried again', async () => {
    await using fake = await FakeServer.start({
      handshake: (talk) => (talk.index === 0 ? talk.expire() : talk.grant()),
    });
    await using ours = await connectedProbe(fake.address);
    expect(ours.states).toEqual(['CONNECTED']);
  });

  it('that accept and hang up are not stormed', async () => {
    await using fake = await FakeServer.start({
      handshake: (talk) => {
        talk.grant({ timeoutMs: 4000 });
        talk.end();
      },
    });
    await using ours = probe(fake.address, { sessionTimeoutMs: 4000 });
    const startedAtMs = performance.now();
    await until(() => fake.talks.length >= 4);
    // The store pauses three times, for half a second each on average. The chance that all three pauses are
    // close to zero is less than one in a million.
    expect(performance.now() - startedAtMs).toBeGreaterThan(20);
    expect(ours.states.slice(0, 2)).toEqual(['CONNECTED', 'SUSPENDED']);
  });

  it.skipIf(!supportsEnsemble)('of a real ensemble: killing the own server costs no session', async () => {
    await using ensemble = await startEnsemble(3);
    await using ours = await connectedProbe(ensemble.connectString, { sessionTimeoutMs: 6000 });
    const path = await ours.store.create(uniqueRoot(), Buffer.alloc(0), 'ephemeral');
    const { sessionId } = ours.store;
    for (const server of ensemble.servers) {
      if (ours.states.length === 1) await server.kill9();
      if (ours.states.length === 1) await server.restart();
    }
    await until(() => ours.states.length > 1);
    await ours.store.connected();
    expect(ours.store.sessionId).toBe(sessionId);
    await ours.store.sync('/');
    expect((await ours.store.exists(path))?.ephemeralOwner).toBe(sessionId);
  });
});
