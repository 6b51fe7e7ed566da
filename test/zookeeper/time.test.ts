/** Tests how a store handles time: the proof of life that leases rely on, and the detection of a freeze. */
import { describe, expect, it } from 'vitest';
import { pingIntervalMs } from '../../src/lease/lease.js';
import { startEnsemble, supportsEnsemble, uniqueRoot } from '../support/ensemble.js';
import { until } from '../support/until.js';
import { emptyStat, FakeServer, multiAnswer, op, type Script } from './fake-server.js';
import { JumpingClock } from './jumping-clock.js';
import { connectedProbe, failureOf, probe } from './probe.js';

const sessionTimeoutMs = 60_000;
const proofGapMs = sessionTimeoutMs / 4;
const nothing: Buffer = Buffer.alloc(0);

/** A server that answers every request, and fails writes to `/bad`. */
const obliging: Script = {
  handshake: (talk) => talk.grant({ timeoutMs: sessionTimeoutMs }),
  request: (talk, { xid, type, body }) => {
    if (type === op.MULTI) talk.reply(xid, { body: multiAnswer(body) });
    else if (body.string() === '/bad') talk.reply(xid, { error: -103 });
    else talk.reply(xid, { body: emptyStat });
  },
};

describe('the proof that the ensemble took a sign of life into account', () => {
  it('is, at first, the sending of the handshake that was answered', async () => {
    const clock = new JumpingClock();
    await using fake = await FakeServer.start({ handshake: () => undefined });
    await using ours = probe(fake.address, { sessionTimeoutMs, clock });
    expect(ours.store.provenAliveAtMs()).toBe(Number.NEGATIVE_INFINITY);
    await until(() => fake.talks[0]?.handshake);
    const sentBeforeMs = clock.monotonicMs();
    clock.jump(1000);
    fake.talks[0]?.grant({ timeoutMs: sessionTimeoutMs });
    await ours.store.connected();
    expect(ours.store.provenAliveAtMs()).toBeLessThanOrEqual(sentBeforeMs);
    expect(ours.store.provenAliveAtMs()).toBeGreaterThan(sentBeforeMs - 10_000);
  });

  it('moves with a write, to a sign answered a quarter of the session timeout before it', async () => {
    const clock = new JumpingClock();
    await using fake = await FakeServer.start(obliging);
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs, clock });
    const { store } = ours;
    const handshakeAtMs = store.provenAliveAtMs();
    clock.jump(100);
    const readAtMs = clock.monotonicMs();
    await store.exists('/a');
    const answeredAtMs = clock.monotonicMs();
    clock.jump(proofGapMs / 2);
    await store.set('/a', nothing, 'any');
    expect(store.provenAliveAtMs()).toBe(handshakeAtMs);
    clock.jump(proofGapMs / 2);
    await store.exists('/a');
    expect(store.provenAliveAtMs()).toBe(handshakeAtMs);
    await store.set('/a', nothing, 'any');
    expect(store.provenAliveAtMs()).toBeGreaterThanOrEqual(readAtMs);
    expect(store.provenAliveAtMs()).toBeLessThanOrEqual(answeredAtMs);
  });

  it('does not move with a write that failed', async () => {
    const clock = new JumpingClock();
    await using fake = await FakeServer.start(obliging);
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs, clock });
    const { store } = ours;
    const handshakeAtMs = store.provenAliveAtMs();
    clock.jump(100);
    await store.exists('/a');
    clock.jump(proofGapMs);
    await failureOf(store.set('/bad', nothing, 0));
    await failureOf(store.multi([{ type: 'check', path: '/bad', version: 0 }]));
    expect(store.provenAliveAtMs()).toBe(handshakeAtMs);
    await store.multi([{ type: 'check', path: '/a', version: 0 }]);
    expect(store.provenAliveAtMs()).toBeGreaterThan(handshakeAtMs);
  });

  it('does not rest on a sign that was answered late, however early it was sent', async () => {
    const clock = new JumpingClock();
    const withheld: (() => void)[] = [];
    await using fake = await FakeServer.start({
      ...obliging,
      request: (talk, request) => {
        if (request.type === op.EXISTS) withheld.push(() => obliging.request?.(talk, request));
        else obliging.request?.(talk, request);
      },
    });
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs, clock });
    const handshakeAtMs = ours.store.provenAliveAtMs();
    const read = ours.store.exists('/a');
    await until(() => withheld.length > 0);
    clock.jump(proofGapMs + 100);
    withheld[0]?.();
    await read;
    await ours.store.set('/a', nothing, 'any');
    expect(ours.store.provenAliveAtMs()).toBe(handshakeAtMs);
  });

  it('takes pings for signs', async () => {
    const clock = new JumpingClock();
    await using fake = await FakeServer.start(obliging);
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs, clock });
    clock.jump(pingIntervalMs(sessionTimeoutMs));
    const pingedAtMs = clock.monotonicMs();
    expect(ours.store.state).toBe('CONNECTED');
    await until(() => fake.talks[0]?.pings === 1);
    // Answers arrive in the order of the requests. When this request is answered, the ping has been answered
    // too.
    await ours.store.exists('/a');
    clock.jump(proofGapMs + 100);
    await ours.store.set('/a', nothing, 'any');
    expect(ours.store.provenAliveAtMs()).toBeGreaterThanOrEqual(pingedAtMs);
  });

  it('does not move with a new connection, but with its first write, to its handshake', async () => {
    const clock = new JumpingClock();
    await using fake = await FakeServer.start(obliging);
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs, clock });
    const openedAtMs = ours.store.provenAliveAtMs();
    await ours.store.exists('/a');
    clock.jump(proofGapMs + 100);
    const brokenAtMs = clock.monotonicMs();
    fake.talks[0]?.destroy();
    await until(() => ours.states.includes('SUSPENDED'));
    await ours.store.connected();
    const resumedAtMs = clock.monotonicMs();
    expect(ours.store.provenAliveAtMs()).toBeLessThanOrEqual(openedAtMs);
    clock.jump(100);
    await ours.store.exists('/a');
    await ours.store.set('/a', nothing, 'any');
    expect(ours.store.provenAliveAtMs()).toBeGreaterThanOrEqual(brokenAtMs);
    expect(ours.store.provenAliveAtMs()).toBeLessThanOrEqual(resumedAtMs);
  });

  it.skipIf(!supportsEnsemble)('stands still while the server is cut off from the ensemble', async () => {
    await using ensemble = await startEnsemble(3, { syncLimitTicks: 2_400 });
    const leader = await ensemble.leader();
    const index = ensemble.servers.findIndex((server) => server !== leader);
    const follower = ensemble.servers[index]?.connectString ?? '';
    await using ours = await connectedProbe(follower, { sessionTimeoutMs: 2000 });
    const path = await ours.store.create(uniqueRoot(), nothing, 'persistent');
    await ensemble.isolate(index);
    const isolatedAtMs = process.hrtime.bigint();
    const reads = [await ours.store.exists(path), await ours.store.exists(path)];
    expect(reads).not.toContain(null);
    expect((await failureOf(ours.store.set(path, nothing, 'any'))).outcomeUnknown).toBe(true);
    expect(ours.store.provenAliveAtMs()).toBeLessThan(Number(isolatedAtMs) / 1e6);
    await ensemble.heal();
  });
});

describe('a process that was frozen', () => {
  it('is out of touch at its first look after two thirds of the session timeout', async () => {
    const clock = new JumpingClock();
    await using fake = await FakeServer.start(obliging);
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs, clock });
    clock.jump((sessionTimeoutMs * 2) / 3 + 1);
    expect(ours.store.state).toBe('SUSPENDED');
    expect(ours.states).toEqual(['CONNECTED', 'SUSPENDED']);
    await ours.store.connected();
    expect(ours.store.sessionId).toBe(7n);
  });

  it('learns so from its first call, which is not sent', async () => {
    const clock = new JumpingClock();
    await using fake = await FakeServer.start(obliging);
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs, clock });
    clock.jump((sessionTimeoutMs * 2) / 3 + 1);
    const error = await failureOf(ours.store.set('/a', nothing, 'any'));
    expect(error.code).toBe('CONNECTION_LOSS');
    expect(error.message).toMatch(/nothing received for 40\d\d\d ms/);
    expect(fake.talks[0]?.types).toEqual([]);
  });

  it('is not in touch again by what had arrived meanwhile', async () => {
    const clock = new JumpingClock();
    await using fake = await FakeServer.start(obliging);
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs, clock });
    clock.jump((sessionTimeoutMs * 2) / 3 + 1);
    fake.talks[0]?.notify(3, '/a');
    await until(() => ours.states.length > 1);
    expect(ours.states[1]).toBe('SUSPENDED');
    expect(ours.changes).toEqual([]);
  });

  it('has lost its session after four thirds of the session timeout', async () => {
    const clock = new JumpingClock();
    await using fake = await FakeServer.start(obliging);
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs, clock });
    clock.jump((sessionTimeoutMs * 4) / 3 + 1);
    expect((await failureOf(ours.store.getData('/a'))).code).toBe('SESSION_EXPIRED');
    expect(ours.states).toEqual(['CONNECTED', 'SUSPENDED', 'LOST']);
    await until(() => fake.open === 0);
  });
});
