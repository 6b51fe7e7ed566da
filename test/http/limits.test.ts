/**
 * Clients that are slow, broken or too numerous. The interface rejects each of them, and no other client
 * waits.
 */
import { connect as dial, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maxIdle } from '../../src/http/connections.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group } from '../support/agent-group.js';
import { type Api, codeOf, openApi, token } from '../support/http.js';
import { until } from '../support/until.js';

let zookeeper: DevelopmentServer;
let group: Group;
let api: Api;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer();
  group = await Group.found(zookeeper.connectString);
  api = await openApi(group, group.start('a'));
});
afterAll(async () => {
  await api.server.close();
  await group[Symbol.asyncDispose]();
  await zookeeper.close();
});

interface Talk extends Disposable {
  readonly socket: Socket;
  /** Resolves with all received data when the server has closed the connection. */
  readonly ended: Promise<string>;
  /** Returns all data received so far. */
  received(): string;
}

function talk(text: string): Talk {
  const { hostname, port } = new URL(api.server.url);
  const socket = dial(Number(port), hostname);
  let received = '';
  const ended = new Promise<string>((resolve) => {
    socket.on('data', (data) => {
      received += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
  });
  socket.write(text);
  return { socket, ended, received: () => received, [Symbol.dispose]: () => socket.destroy() };
}

const errorOf = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));

/** Returns the headers of an answer, by name. */
function headOf(answer: string): Record<string, string> {
  const lines = answer.slice(0, answer.indexOf('\r\n\r\n')).split('\r\n').slice(1);
  return Object.fromEntries(lines.map((line) => line.toLowerCase().split(': ', 2)));
}

describe('every answer', () => {
  it.each([
    ['of a route', 'GET /leader HTTP/1.1'],
    ['that there is no such place', 'GET /nowhere HTTP/1.1'],
    ['that a change is refused', 'POST /pause HTTP/1.1'],
    ['to an address that is none', 'GET /%zz HTTP/1.1'],
    ['to what is no HTTP', 'nonsense'],
    ['of events', 'GET /events HTTP/1.1'],
  ])('%s lets browsers do nothing with it', async (_, line) => {
    using said = talk(`${line}\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    const answer = await until(() => (said.received().includes('\r\n\r\n') ? said.received() : null));
    expect(headOf(answer)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
  });
});

describe('a client', () => {
  it('that never ends its head is hung up on', async () => {
    using slow = talk('GET /leader HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
    const drip = setInterval(() => slow.socket.write('x'), 200);
    const answer = await slow.ended;
    clearInterval(drip);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(errorOf(answer)).toMatchObject({ error: { code: 'TIMEOUT' } });
  });

  it('that never ends its body is hung up on', async () => {
    const head = `POST /pause HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n`;
    using slow = talk(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"reason": "`);
    expect(await slow.ended).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('whose head is too large gets an error that says so', async () => {
    using big = talk(`GET /leader HTTP/1.1\r\nhost: localhost\r\nx-big: ${'x'.repeat(9_000)}\r\n\r\n`);
    const answer = await big.ended;
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(errorOf(answer)).toMatchObject({ error: { code: 'TOO_LARGE' } });
  });

  it('that speaks another protocol gets an error that says so', async () => {
    using odd = talk('\u0016\u0003\u0001 hello\r\n\r\n');
    const answer = await odd.ended;
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(errorOf(answer)).toMatchObject({
      error: { code: 'INVALID', message: 'the request is not valid HTTP' },
    });
  });

  it('that asks for nonsense gets an answer', async () => {
    for (const path of [
      '/%zz',
      '/sites/%00/priority',
      `/${'x'.repeat(5_000)}`,
      '//',
      '/../leader',
      '/leader/',
    ]) {
      using odd = talk(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
      expect(await odd.ended, path).toMatch(/^HTTP\/1\.1 (400|404|405|414) /);
    }
  });

  it('that lets endless requests wait behind one that does not end is hung up on', async () => {
    const leader = 'GET /leader HTTP/1.1\r\nhost: localhost\r\n\r\n';
    using greedy = talk(`GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n${leader.repeat(100)}`);
    const answer = await greedy.ended;
    expect(answer.split('HTTP/1.1').length).toBeLessThanOrEqual(2);
  });

  it('does not wait for five hundred that say nothing', async () => {
    const idle = Array.from({ length: 500 }, () => talk('GET /leader HTTP/1.1\r\n'));
    try {
      await until(() => idle.every(({ socket }) => !socket.connecting));
      expect(await codeOf(`${api.server.url}/health`)).toBe(200);
    } finally {
      for (const each of idle) each[Symbol.dispose]();
    }
  });

  it('A13 that leaves its request half sent gives way to those who come later', async () => {
    const half = Array.from({ length: maxIdle + 20 }, () => talk('GET /leader HTTP/1.1\r\n'));
    using whole = talk('GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n');
    try {
      await Promise.all(half.slice(0, 20).map(({ ended }) => ended));
      expect(half.at(-1)?.socket.destroyed).toBe(false);
      expect(await codeOf(`${api.server.url}/health`)).toBe(200);
      await until(() => whole.received().includes('text/event-stream'));
      expect(whole.socket.destroyed).toBe(false);
    } finally {
      for (const each of half) each[Symbol.dispose]();
    }
  });

  it('A13 that keeps its connection open between two requests gives way likewise, and not while one is answered', async () => {
    using kept = talk('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n');
    using reader = talk('GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await until(() => kept.received().includes('"leads"') && reader.received().includes('event-stream'));
    const half = Array.from({ length: maxIdle }, () => talk('GET /leader HTTP/1.1\r\n'));
    try {
      await kept.ended;
      expect(reader.socket.destroyed).toBe(false);
    } finally {
      for (const each of half) each[Symbol.dispose]();
    }
  });
});
