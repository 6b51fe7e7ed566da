/**
 * Tests with ZooKeeper's own command-line client, ZooKeeperMain. To install it on Debian: apt-get install
 * default-jre-headless libzookeeper-java.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { until } from '../support/until.js';

const jars = ['zookeeper', 'slf4j-nop'].map((name) => `/usr/share/java/${name}.jar`);
const available = jars.every(existsSync) && spawnSync('java', ['-version']).status === 0;
const missing = available ? '' : ' (not here: no java or no libzookeeper-java)';
const jvmFlags = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx64m'];

let server: DevelopmentServer;

beforeAll(async () => {
  server = await startDevelopmentServer();
});

afterAll(async () => {
  await server.close();
});

/**
 * Passes these commands to one run of the command-line client. Returns its results and its messages
 * separately.
 */
async function zkCli(...commands: string[]): Promise<{ results: string[]; messages: string[] }> {
  const main = ['-cp', jars.join(':'), 'org.apache.zookeeper.ZooKeeperMain'];
  const args = [...jvmFlags, ...main, '-server', server.connectString];
  const run = promisify(execFile)('java', args, { timeout: 300_000 });
  run.child.stdin?.end([...commands, 'quit', ''].join('\n'));
  const { stdout, stderr } = await run;
  return { results: lines(stdout), messages: lines(stderr) };
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

describe.skipIf(!available)(`ZooKeeper's command line against the development server${missing}`, () => {
  it('creates, reads, sets, watches, lists and deletes', async () => {
    const { results, messages } = await zkCli(
      'create /a hello',
      'create -s -e /a/n- x',
      'get -w /a',
      'set /a bye',
      'stat /a',
      'ls -R /a',
      'delete /a',
      'set -v 7 /a y',
      'deleteall /a',
      'get /a',
      'sync /',
      'getAllChildrenNumber /zookeeper',
    );
    expect(messages).toEqual([
      'Created /a',
      'Created /a/n-0000000000',
      'Node not empty: /a',
      'version No is not valid : /a',
      'Node does not exist: /a',
    ]);
    const inOrder = [
      'hello',
      'WatchedEvent state:SyncConnected type:NodeDataChanged path:/a',
      'dataVersion = 1',
      'dataLength = 3',
      'numChildren = 1',
      '/a',
      '/a/n-0000000000',
      'Sync is OK',
      '2',
    ];
    expect(results.filter((line) => inOrder.includes(line))).toEqual(inOrder);
  });

  it('asks for access, proves who it is, and is refused', async () => {
    const { results, messages } = await zkCli(
      'create /acl x',
      'getAcl /acl',
      'addauth digest alice:wonderland',
      'whoami',
      'setAcl /acl auth::r',
      'set /acl y',
      'getAcl /acl',
    );
    expect(results).toEqual(expect.arrayContaining(["'world,'anyone", ': cdrwa', 'ip: 127.0.0.1', ': r']));
    expect(results).toContainEqual(expect.stringMatching(/^digest: alice/));
    expect(results).toContainEqual(expect.stringMatching(/^'digest,'alice:/));
    expect(messages).toEqual(['Created /acl', expect.stringContaining('Insufficient permission : /acl')]);
  });

  it('learns what the development server does not have, and goes on', async () => {
    const { messages } = await zkCli('create -c /container', 'create -t 1000 /ttl', 'create /after');
    expect(messages).toHaveLength(3);
    expect(messages[0]).toMatch(/unimplemented/i);
    expect(messages[1]).toMatch(/unimplemented/i);
    expect(messages[2]).toBe('Created /after');
  });

  it('keeps its session over a broken connection', async () => {
    const connected = 'WatchedEvent state:SyncConnected type:None path:null';
    const sessionsBefore = server.requestCounts().size;
    const reading = zkCli(...Array.from({ length: 1000 }, () => 'get /zookeeper/config'), 'ls /');
    await until(() => server.requestCounts().size > sessionsBefore && readsOfNewestSession() > 20, {
      intervalMs: 1,
    });
    server.dropConnections();
    const { results } = await reading;
    expect(results.filter((line) => line === connected)).toHaveLength(2);
    expect(server.requestCounts().size).toBe(sessionsBefore + 1);
  });
});

function readsOfNewestSession(): number {
  return [...server.requestCounts().values()].at(-1)?.requests.getData ?? 0;
}
