/** What an agent says about itself and its ensemble, and the documentation that it serves. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { version } from '../../src/version.js';
import { Group } from '../support/agent-group.js';
import { openApi } from '../support/http.js';
import { led, patient } from '../support/led-group.js';
import { freePorts } from '../support/ports.js';

let zookeeper: DevelopmentServer;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer(patient);
});
afterAll(() => zookeeper.close());

describe('/agent', () => {
  it('has the version, the node, its session, and each server, whether it responds or not', async () => {
    await using group = await Group.found(zookeeper.connectString);
    const [dead = 0] = await freePorts(1);
    const connect = `${zookeeper.connectString},127.0.0.1:${dead}`;
    await using api = await openApi(group, await led(group), { connect });
    expect(await api.call('/agent')).toMatchObject({
      status: 200,
      body: {
        version,
        node: 'a',
        pid: process.pid,
        changes: true,
        session: 'CONNECTED',
        servers: [
          { server: zookeeper.connectString, mode: 'standalone', problem: null },
          { server: `127.0.0.1:${dead}`, mode: null, problem: expect.stringContaining('ECONNREFUSED') },
        ],
      },
    });
  });

  it('says that an agent without a token accepts no changes', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, group.start('a'), { secrets: { token: null } });
    expect(await api.call('/agent')).toMatchObject({ status: 200, body: { changes: false } });
  });
});

describe('/docs', () => {
  it('has the pages of the documentation, and nothing else', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, group.start('a'));
    const get = (path: string) => fetch(`${api.server.url}/docs/${path}`);
    const runbook = await get('guides/runbook.md');
    expect(runbook.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await runbook.text()).toContain('# Runbook');
    for (const path of [
      '',
      'nowhere.md',
      '..%2fREADME.md',
      '%2e%2e/README.md',
      'guides/page.png',
      '__proto__',
    ])
      expect((await get(path)).status, path).toBe(404);
  });
});
