/** The host names that an agent accepts if only its own machine can reach its HTTP interface. */
import { lookup } from 'node:dns/promises';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostText } from '../../src/config/listen.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group } from '../support/agent-group.js';
import { type Api, openApi } from '../support/http.js';

let zookeeper: DevelopmentServer;
let group: Group;
let api: Api;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer();
  group = await Group.found(zookeeper.connectString);
  api = await openApi(group, group.start('a'), { hosts: ['petrel.example.com'] });
});
afterAll(async () => {
  await api.server.close();
  await group[Symbol.asyncDispose]();
  await zookeeper.close();
});

/** Sends a request with this host name. Returns the status and the text of the answer. */
function ask(url: string, path: string, host: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, url), { headers: { host } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

const places = ['/', '/status', '/history', '/events', '/metrics', '/openapi.json', '/nowhere'];

describe('an agent that its own machine alone can reach', () => {
  it.each(places)('refuses %s to a client that uses another host name', async (path) => {
    const { status, text } = await ask(api.server.url, path, 'evil.example:8008');
    expect(status).toBe(421);
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 'MISDIRECTED', message: expect.stringContaining('"evil.example": use 127.0.0.1') },
    });
  });

  it.each([
    'localhost',
    'localhost:8008',
    '127.0.0.1:8008',
    '[::1]:8008',
    'a.localhost',
    'PETREL.example.com:80',
  ])('answers by the name %s', async (host) => {
    expect((await ask(api.server.url, '/openapi.json', host)).status).toBe(200);
  });

  it.each(['/leader', '/standby', '/elector', '/health', '/ready'])(
    'answers %s, which load balancers ask for, by any name',
    async (path) => {
      expect([200, 503]).toContain((await ask(api.server.url, path, 'www.example.com')).status);
    },
  );
});

it('an agent on localhost answers at every address of that name', async () => {
  await using both = await openApi(group, group.start('c'), { listen: { host: 'localhost', port: 0 } });
  const { port } = new URL(both.server.url);
  for (const { address } of await lookup('localhost', { all: true }))
    expect((await ask(`http://${hostText(address)}:${port}`, '/openapi.json', 'localhost')).status).toBe(200);
});

it('an agent that others can reach answers to names that it does not know', async () => {
  await using open = await openApi(group, group.start('b'), { listen: { host: '0.0.0.0', port: 0 } });
  const url = open.server.url.replace('0.0.0.0', '127.0.0.1');
  expect((await ask(url, '/openapi.json', 'petrel7.internal')).status).toBe(200);
  await open.server.close();
});
