/** /leader, /standby, /elector, /health and /ready, in each state that a node can be in. */
import { connect as dial } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group, type Member } from '../support/agent-group.js';
import { type Api, codeOf, openApi } from '../support/http.js';
import { RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

let zookeeper: DevelopmentServer;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer({ tickTimeMs: 250 });
});
afterAll(() => zookeeper.close());

const paths = ['/leader', '/standby', '/elector', '/health', '/ready'] as const;
/** Paths that answer with status 200. */
type Holding = readonly (typeof paths)[number][];

/**
 * Returns the paths that answer with status 200. Checks that every method gives the same status, and that
 * answers match the OpenAPI description.
 */
async function holding({ server, call }: Api): Promise<Holding> {
  const codes = await Promise.all(
    paths.map(async (path) => {
      const url = `${server.url}${path}`;
      const answer = await call(path);
      const all = [answer.status, await codeOf(url, 'HEAD'), await codeOf(url, 'OPTIONS')];
      expect(new Set(all).size, `${path}: ${all}`).toBe(1);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      return { path, code: answer.status };
    }),
  );
  return codes.filter(({ code }) => code === 200).map(({ path }) => path);
}

async function becomes(api: Api, wanted: Holding): Promise<void> {
  await until(async () => (await holding(api)).join() === wanted.join(), {
    timeoutMs: 20_000,
    describe: `200 on ${wanted.join()} alone`,
  });
}

/** A session timeout longer than any period for which the machine withholds CPU time from this process. */
const patientMs = 10_000;
/** Session timeout of a node that must lose its session. */
const sessionTimeoutMs = 2_000;

async function pair(group: Group, sessionTimeoutMs = patientMs): Promise<{ a: Member; b: Member }> {
  const [a, b] = await group.startInOrder(['a', 'b'], { sessionTimeoutMs });
  if (a === undefined || b === undefined) throw new Error('two were started');
  await group.ready('a');
  return { a, b };
}

describe('a node', () => {
  it('is leader and elector, or standby', async () => {
    await using group = await Group.found(zookeeper.connectString);
    const { a, b } = await pair(group);
    await using ofA = await openApi(group, a);
    await using ofB = await openApi(group, b);
    await becomes(ofA, ['/leader', '/elector', '/health', '/ready']);
    await becomes(ofB, ['/standby', '/health', '/ready']);
    const { body } = await ofA.call('/leader');
    expect(body).toMatchObject({ node: 'a', leads: true, term: 1, stage: 'leading', joined: true });
    expect(body).toMatchObject({ leaseMs: expect.any(Number), fencingToken: expect.stringMatching(/^\d+$/) });
    expect((await ofB.call('/leader')).body).toMatchObject({ leads: false, leaseMs: null, term: null });
  });

  it('that has not joined is alive, and nothing else', async () => {
    await using group = await Group.found(zookeeper.connectString);
    const member = group.start('a', { connect: '127.0.0.1:1' });
    await using api = await openApi(group, member);
    expect(await holding(api)).toEqual(['/health']);
  });

  it('that takes over is neither leader nor standby, and leads when its takeover has ended well', async () => {
    await using group = await Group.found(zookeeper.connectString);
    let go = () => {};
    const wait = new Promise<void>((resolve) => {
      go = resolve;
    });
    const member = group.start('a', { workload: new RecordingWorkload({ takeover: () => wait }) });
    await using api = await openApi(group, member);
    await until(() => member.status.stage === 'taking-over');
    expect(await holding(api)).toEqual(['/elector', '/health', '/ready']);
    go();
    await becomes(api, ['/leader', '/elector', '/health', '/ready']);
  });

  it('that releases leads no longer, from before its release began', async () => {
    await using group = await Group.found(zookeeper.connectString);
    let go = () => {};
    let response: Promise<number> | null = null;
    const wait = new Promise<void>((resolve) => {
      go = resolve;
    });
    const workload = new RecordingWorkload({
      release: async () => {
        response = codeOf(`${api.server.url}/leader`);
        await wait;
      },
    });
    const member = group.start('a', { workload });
    await using api = await openApi(group, member);
    await group.ready('a');
    const other = group.start('b');
    await other.joined();
    await group.switchover('b');
    expect(await until(() => response)).toBe(503);
    expect(await holding(api)).toEqual(['/elector', '/health', '/ready']);
    go();
    await becomes(api, ['/standby', '/elector', '/health', '/ready']);
  });

  it('that leaves is not ready at once, leads until it releases, and answers until it has left', async () => {
    await using group = await Group.found(zookeeper.connectString);
    let go = () => {};
    const wait = new Promise<void>((resolve) => {
      go = resolve;
    });
    const member = group.start('a', { workload: new RecordingWorkload({ release: () => wait }) });
    await using api = await openApi(group, member);
    await group.ready('a');
    await group.configure({ timeouts: { ...(await group.config()).timeouts, claim: '1s' } });
    member.agent.stop();
    expect(await codeOf(`${api.server.url}/ready`)).toBe(503);
    expect(await codeOf(`${api.server.url}/standby`)).toBe(503);
    await until(() => member.status.stage === 'releasing');
    expect(await holding(api)).toEqual(['/elector', '/health']);
    go();
    await member.run;
    expect(await holding(api)).toEqual(['/health']);
  });

  it('that is cut off says so, and leads no longer than its lease', async () => {
    await using own = await startDevelopmentServer({ tickTimeMs: 250 });
    await using group = await Group.found(own.connectString);
    const { a } = await pair(group, sessionTimeoutMs);
    await using api = await openApi(group, a);
    own.freeze();
    let lastLedMs = 0;
    await until(
      async () => {
        const sentAtMs = systemClock.monotonicMs();
        if ((await codeOf(`${api.server.url}/leader`)) === 503) return true;
        lastLedMs = sentAtMs;
        return false;
      },
      { intervalMs: 1 },
    );
    expect(lastLedMs).toBeLessThan(a.status.lease?.releaseAtMs ?? 0);
    await becomes(api, ['/health']);
    own.resume();
    await until(() => a.status.joined, { timeoutMs: 20_000 });
  });
});

describe('a request that waits while the process stands still', () => {
  it('for longer than the lease is answered by 503', async () => {
    await using own = await startDevelopmentServer({ tickTimeMs: 250 });
    await using group = await Group.found(own.connectString);
    const { a } = await pair(group, sessionTimeoutMs);
    await using api = await openApi(group, a);
    const { hostname, port } = new URL(api.server.url);
    const socket = dial(Number(port), hostname);
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    const answers = () => received.match(/HTTP\/1\.1 \d+/g) ?? [];
    const leader = 'GET /leader HTTP/1.1\r\nhost: localhost\r\n\r\n';
    let requests = 0;
    await until(() => {
      if (answers().length < requests) return false;
      if (answers().at(-1) === 'HTTP/1.1 200') return true;
      requests += 1;
      socket.write(leader);
      return false;
    });
    const before = answers().length;
    const untilMs = (a.status.lease?.endsAtMs ?? 0) + sessionTimeoutMs;
    socket.write(leader);
    // The request waits in the socket, because this busy loop blocks the process until the lease is over.
    while (systemClock.monotonicMs() < untilMs);
    await until(() => answers().length > before);
    expect(answers().slice(before)).toEqual(['HTTP/1.1 503']);
    socket.destroy();
  });
});

describe('requests sent at once on one connection', () => {
  it('are answered when their turn comes, and not before', async () => {
    await using own = await startDevelopmentServer({ tickTimeMs: 250 });
    await using group = await Group.found(own.connectString);
    const { a } = await pair(group, sessionTimeoutMs);
    await using api = await openApi(group, a);
    await api.call('/status');
    const { hostname, port } = new URL(api.server.url);
    const socket = dial(Number(port), hostname);
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    // The first request waits for ZooKeeper, which does not answer until long after the lease has ended.
    own.freeze();
    socket.write(
      'GET /status HTTP/1.1\r\nhost: localhost\r\n\r\nGET /leader HTTP/1.1\r\nhost: localhost\r\n\r\n',
    );
    await until(() => !a.status.leads, { timeoutMs: 20_000 });
    expect(received).toBe('');
    own.resume();
    await until(() => received.split('HTTP/1.1').length === 3, { timeoutMs: 20_000 });
    const [, , second = ''] = received.split('HTTP/1.1 ');
    expect(second).toMatch(/^503 /);
    socket.destroy();
  });
});
