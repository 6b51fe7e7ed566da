import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import { systemClock } from '../../src/ports/clock.js';
import { newNumber, packetBytes, tagOf } from '../../src/probe/packet.js';
import type { Prober } from '../../src/probe/prober.js';
import { ProbedGroup } from '../support/probed-group.js';
import { startProxy } from '../support/proxy.js';
import { RawPeer } from '../support/raw-peer.js';
import { until } from '../support/until.js';
import { WideArea } from '../support/wide-area.js';

const secret = 'known to the whole group';
/** A long timeout, because measurements are slow on a busy machine. */
const timeoutMs = 50_000;

/** Waits until a prober has measured these peers. Returns the round trips. */
function measures(prober: Prober, ...peers: readonly string[]): Promise<ReadonlyMap<string, number>> {
  return until(
    () => {
      const roundTrips = prober.roundTrips();
      return peers.every((peer) => roundTrips.has(peer)) ? roundTrips : null;
    },
    { timeoutMs, describe: `round trips to ${peers.join(', ')}` },
  );
}

/**
 * Waits until `prober` has answered a handmade peer. Discards the packets that the peer has received until
 * then.
 */
async function met(prober: Prober, peer: RawPeer): Promise<void> {
  await until(
    async () => {
      const number = newNumber();
      peer.send(prober.address, peer.coder.write('question', tagOf('a'), number, null));
      return await until(() => peer.packets('answer').some(({ packet }) => packet.number === number), {
        timeoutMs: 200,
      });
    },
    { timeoutMs, describe: 'a prober to have met its peer' },
  );
  peer.got.length = 0;
}

describe('a group that probes', () => {
  it('measures the round trips there are, each node its own', async () => {
    const delays: Record<string, number> = { 'a b': 10, 'a c': 25, 'b c': 40 };
    await using area = new WideArea((from, to) => delays[[from, to].toSorted().join(' ')] ?? 0);
    await using group = await ProbedGroup.open();
    const probers = new Map<string, Prober>();
    for (const node of ['a', 'b', 'c']) {
      const port = await area.enter(node);
      const prober = await group.start(node, { secret, address: { host: '127.0.0.1', port } });
      probers.set(node, prober);
    }
    for (const [node, prober] of probers) area.is(node, prober.listensAt.port);
    for (const [node, prober] of probers) {
      const others = [...probers.keys()].filter((other) => other !== node);
      const roundTrips = await measures(prober, ...others);
      for (const other of others) {
        const delayMs = 2 * (delays[[node, other].toSorted().join(' ')] ?? 0);
        expect(roundTrips.get(other)).toBeGreaterThanOrEqual(delayMs);
        await until(() => (prober.roundTrips().get(other) ?? delayMs + 15) < delayMs + 15, { timeoutMs });
      }
    }
  });

  it.concurrent('carries what each gets from its clients, as long as it answers', async () => {
    await using group = await ProbedGroup.open();
    const a = await group.start('a', { requestsPerSecond: 12.5 });
    const b = await group.start('b');
    expect(await until(() => b.heardRates().get('a'), { timeoutMs })).toBe(12.5);
    await measures(a, 'b');
    expect([...a.heardRates()]).toEqual([]);
    await a.close();
    await until(() => b.heardRates().size === 0, { timeoutMs });
  });

  it.concurrent('says nothing of a peer that has stopped answering, or left', async () => {
    await using group = await ProbedGroup.open();
    const a = await group.start('a');
    const b = await group.start('b');
    await group.start('c');
    await measures(a, 'b', 'c');
    await b.close();
    await until(() => !a.roundTrips().has('b'), { timeoutMs });
    expect([...a.roundTrips().keys()]).toEqual(['c']);
    await group.leave('c');
    await until(() => a.roundTrips().size === 0, { timeoutMs });
  });

  it.concurrent('finds a peer that has come back elsewhere', async () => {
    await using group = await ProbedGroup.open();
    const a = await group.start('a');
    const b = await group.start('b');
    await measures(a, 'b');
    await b.close();
    await group.leave('b');
    await group.start('b');
    await until(() => !a.roundTrips().has('b'), { timeoutMs });
    await measures(a, 'b');
  });

  it.concurrent('works by names, and over IPv6', async () => {
    await using group = await ProbedGroup.open();
    const everywhere = { host: '::', port: 0 };
    const a = await group.start('a', { listen: everywhere, address: { host: '::1', port: null } });
    const b = await group.start('b', { listen: { host: '::1', port: 0 } });
    const c = await group.start('c', { listen: everywhere, address: { host: '127.0.0.1', port: null } });
    const d = await group.start('d', { address: { host: 'localhost', port: null } });
    await measures(a, 'b', 'c');
    await measures(b, 'a');
    await measures(c, 'a', 'd');
    await measures(d, 'c');
    const e = await group.start('e', { listen: { host: '0.0.0.0', port: 0 } });
    expect(e.address.host).toBe('localhost');
    await measures(e, 'd');
  });

  it.concurrent('looks seldom, and reads no registration again that it knows', async () => {
    await using group = await ProbedGroup.open();
    const a = await group.start('a');
    await group.start('b');
    await measures(a, 'b');
    const requests = () => group.server.requestCounts().get(group.sessionId('a'))?.requests ?? {};
    const before = requests();
    await until(() => (requests().getChildren2 ?? 0) >= (before.getChildren2 ?? 0) + 2, {
      timeoutMs,
    });
    expect(requests().getData).toBe(before.getData);
  });
});

describe('a standstill', () => {
  it('makes no round trip longer, whichever node stands still', async () => {
    await using area = new WideArea(() => 50);
    await using group = await ProbedGroup.open();
    const port = await area.enter('b');
    const b = await group.start('b', { address: { host: '127.0.0.1', port } });
    const a = await group.start('a', { address: { host: '127.0.0.1', port: await area.enter('a') } });
    area.is('a', a.listensAt.port);
    area.is('b', b.listensAt.port);
    await measures(a, 'b');
    const longest = { ms: 0 };
    for (let round = 0; round < 15; round++) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 450);
      await new Promise((resolve) => setTimeout(resolve, 130));
      longest.ms = Math.max(longest.ms, a.roundTrips().get('b') ?? 0);
    }
    expect(longest.ms).toBeGreaterThanOrEqual(100);
    expect(longest.ms).toBeLessThan(250);
  });
});

it('what was measured before a long standstill does not count', async () => {
  await using group = await ProbedGroup.open();
  let stoodMs = 0;
  const monotonicMs = () => systemClock.monotonicMs() + stoodMs;
  const a = await group.start('a', { clock: { ...systemClock, monotonicMs } });
  await group.start('b', { requestsPerSecond: 3 });
  await measures(a, 'b');
  stoodMs = 3_600_000;
  expect([a.roundTrips().size, a.heardRates().size]).toEqual([0, 0]);
  await measures(a, 'b');
});

describe('a stranger', () => {
  it.each([null, secret])('gets no answer, and changes nothing (secret: %s)', async (used) => {
    await using group = await ProbedGroup.open();
    await using peer = await RawPeer.open('b', group.root, used);
    await group.register('b', peer.address);
    const a = await group.start('a', { secret: used });
    await met(a, peer);
    const stranger = await RawPeer.open('stranger', group.root, used);
    await using elsewhere = await RawPeer.open('b', '/elsewhere', used);
    await using _ = stranger;
    const question = () => peer.coder.write('question', tagOf('a'), newNumber(), 99);
    const bad: Buffer[] = [
      Buffer.alloc(0),
      Buffer.from('x'),
      randomBytes(packetBytes),
      randomBytes(2000),
      question().subarray(1),
      Buffer.concat([question(), Buffer.alloc(1)]),
      stranger.coder.write('question', tagOf('a'), newNumber(), 99),
      elsewhere.coder.write('question', tagOf('a'), newNumber(), 99),
      peer.coder.write('question', tagOf('b'), newNumber(), 99),
      peer.coder.write('answer', tagOf('a'), newNumber(), 99),
    ];
    for (const bytes of bad) for (const from of [stranger, elsewhere, peer]) from.send(a.address, bytes);
    const number = newNumber();
    peer.send(a.address, peer.coder.write('question', tagOf('a'), number, 99));
    expect(await peer.answer(number)).toHaveLength(packetBytes);
    expect(peer.packets('answer')).toHaveLength(1);
    expect([stranger.got, elsewhere.got]).toEqual([[], []]);
    expect([a.roundTrips().size, a.heardRates().size]).toEqual([0, 0]);
  });

  it('gets an answer sent to whom it pretends to be, and nothing more', async () => {
    await using group = await ProbedGroup.open();
    await using peer = await RawPeer.open('b', group.root);
    await using stranger = await RawPeer.open('b', group.root);
    await group.register('b', peer.address);
    const a = await group.start('a');
    await met(a, peer);
    const number = newNumber();
    stranger.send(a.address, stranger.coder.write('question', tagOf('a'), number, null));
    expect(await peer.answer(number)).toHaveLength(packetBytes);
    expect(stranger.got).toEqual([]);
  });

  it('without the secret is ignored, and the log does not contain the secret', async () => {
    await using group = await ProbedGroup.open();
    await using peer = await RawPeer.open('b', group.root, secret);
    await using stranger = await RawPeer.open('b', group.root, 'another secret, well');
    await group.register('b', peer.address);
    const a = await group.start('a', { secret });
    await met(a, peer);
    const { number } = await peer.question();
    stranger.send(a.address, stranger.coder.write('answer', tagOf('a'), number, 99));
    stranger.send(a.address, stranger.coder.write('question', tagOf('a'), newNumber(), 99));
    peer.send(a.address, peer.coder.write('answer', tagOf('a'), number, 7));
    await until(() => a.heardRates().get('b') === 7);
    expect(peer.packets('answer')).toEqual([]);
    expect(group.log.join('')).toMatch(/a different secret/);
    expect(group.log.join('')).not.toContain(secret);
  });
});

describe('what is sent again', () => {
  it('counts once; and what is sent back, not at all', async () => {
    await using group = await ProbedGroup.open();
    await using peer = await RawPeer.open('b', group.root, secret);
    await group.register('b', peer.address);
    const a = await group.start('a', { secret });
    await met(a, peer);
    const first = await peer.question();
    const old = peer.coder.write('answer', tagOf('a'), first.number, 7);
    peer.send(a.address, old);
    await until(() => a.heardRates().get('b') === 7);
    const second = await peer.question(peer.packets('question').length);
    peer.send(a.address, peer.coder.write('answer', tagOf('a'), second.number, 8));
    await until(() => a.heardRates().get('b') === 8);
    for (let times = 0; times < 20; times++) peer.send(a.address, old);
    for (const { bytes } of peer.packets('question')) peer.send(a.address, bytes);
    const number = newNumber();
    peer.send(a.address, peer.coder.write('question', tagOf('a'), number, null));
    await peer.answer(number);
    expect(peer.packets('answer')).toHaveLength(1);
    expect(a.heardRates().get('b')).not.toBe(7);
    expect(a.roundTrips().size).toBe(0);
  });
});

describe('TCP', () => {
  it('measures what a packet takes on a connection that stands, not connecting', async () => {
    await using group = await ProbedGroup.open();
    await using proxy = await startProxy({ target: '127.0.0.1:1' });
    const probe = { host: '127.0.0.1', port: proxy.port, protocol: 'tcp' as const };
    const b = await group.start('b', { protocol: 'tcp', probe });
    proxy.retarget(`127.0.0.1:${b.listensAt.port}`);
    proxy.delay(20);
    const a = await group.start('a', { protocol: 'tcp' });
    const roundTrips = await measures(a, 'b');
    expect(roundTrips.get('b')).toBeGreaterThanOrEqual(40);
    await until(() => (a.roundTrips().get('b') ?? 65) < 65, { timeoutMs });
    const { accepted } = proxy;
    proxy.delay(40);
    await until(() => (a.roundTrips().get('b') ?? 0) >= 80, { timeoutMs });
    expect(proxy.accepted).toBe(accepted);
  });

  it('is used while UDP is closed, and left when it opens', async () => {
    await using area = new WideArea(() => 90);
    await using group = await ProbedGroup.open();
    await using proxy = await startProxy({ target: '127.0.0.1:1' });
    const probe = { host: '127.0.0.1', port: proxy.port, protocol: 'auto' as const };
    const b = await group.start('b', { protocol: 'auto', probe });
    proxy.retarget(`127.0.0.1:${b.listensAt.port}`);
    const a = await group.start('a', { protocol: 'auto' });
    expect((await measures(a, 'b')).get('b')).toBeLessThan(90);
    await area.enter('a');
    await area.enter('b', proxy.port);
    area.is('a', a.listensAt.port);
    area.is('b', b.listensAt.port);
    // The simulated network delays only UDP packets, so a round trip of 90 ms shows that questions use UDP.
    await until(() => (a.roundTrips().get('b') ?? 0) >= 90, { timeoutMs });
  });

  it('closes a connection on which anything but packets of peers comes', async () => {
    await using group = await ProbedGroup.open();
    const a = await group.start('a', { protocol: 'tcp' });
    const stranger = connect(a.listensAt.port, '127.0.0.1');
    const closed = new Promise((resolve) => stranger.once('close', resolve));
    const got: Buffer[] = [];
    stranger.on('data', (chunk) => got.push(chunk)).on('error', () => {});
    stranger.write(randomBytes(packetBytes));
    await closed;
    expect(got).toEqual([]);
  });

  it('limits the number of connections of strangers that say nothing', async () => {
    await using group = await ProbedGroup.open();
    const a = await group.start('a', { protocol: 'tcp' });
    const strangers = Array.from({ length: 80 }, () => connect(a.listensAt.port, '127.0.0.1'));
    for (const stranger of strangers) stranger.on('error', () => {});
    await until(() => strangers.filter(({ closed }) => closed).length >= 16);
    await group.start('b', { protocol: 'tcp' });
    await measures(a, 'b');
    for (const stranger of strangers) stranger.destroy();
  });
});

describe('where a node cannot listen', () => {
  it('says where, and what would be right', async () => {
    await using group = await ProbedGroup.open();
    const { port } = (await group.start('a', { protocol: 'auto' })).listensAt;
    for (const [listen, text] of [
      [{ host: '127.0.0.1', port }, /^probe\.listen: cannot listen on 127\.0\.0\.1:\d+ .*another port/],
      [
        { host: '192.0.2.1', port: 0 },
        /^probe\.listen: cannot listen on 192\.0\.2\.1:0 .*an address of this machine/,
      ],
    ] as const) {
      for (const protocol of ['udp', 'tcp', 'auto'] as const) {
        const error = await group.start('z', { listen, protocol }).catch((thrown: unknown) => thrown);
        if (!(error instanceof PetrelError)) throw new Error('it listens');
        expect(error.code).toBe('INVALID');
        expect(error.message).toMatch(text);
      }
    }
  });
});
