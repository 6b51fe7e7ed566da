import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listingSchema } from '../../src/group/listing.js';
import { groupPaths } from '../../src/model/paths.js';
import { ensureTree } from '../../src/tree/ensure-tree.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { type PetrelProcess, startProcess } from '../support/agents.js';
import { runCommand } from '../support/command.js';
import { uniqueRoot } from '../support/ensemble.js';
import { newGroup, type TestGroup } from '../support/group.js';
import { oncePerRun } from '../support/once-per-run.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

let group: TestGroup;
beforeEach(async () => {
  group = await newGroup();
  await group.node('a1');
  await group.lead('a1', 1);
});
afterEach(() => group[Symbol.asyncDispose]());

function env(more: Readonly<Record<string, string>> = {}) {
  return { PETREL_ZOOKEEPER: group.zookeeper, PETREL_ROOT: group.root, ...more };
}

/** Waits until the last line that was printed lists these nodes. */
function listed(watching: PetrelProcess, nodes: readonly string[]) {
  return until(
    () => {
      const last = watching.stdout.trimEnd().split('\n').at(-1) ?? '';
      const list = listingSchema.parse(JSON.parse(last));
      return JSON.stringify(list.nodes.map(({ node }) => node)) === JSON.stringify(nodes);
    },
    { describe: `${nodes.join(', ')} to be listed`, timeoutMs: 20_000 },
  );
}

describe('watching', () => {
  it('prints again on every change, and ends well on ^C', async () => {
    await using watching = await startProcess(['list', '-w', '3600', '-f', 'json'], env());
    await listed(watching, ['a1']);
    await group.node('b1');
    await listed(watching, ['a1', 'b1']);
    await group.session('b1').close();
    await listed(watching, ['a1']);
    process.kill(watching.pid, 'SIGINT');
    expect(await watching.exited).toMatchObject({ code: 0 });
    expect(watching.stderr).toBe('');
  });

  it('prints again after its time', async () => {
    await using watching = await startProcess(['explain', '--watch', '0.1', '-f', 'json'], env());
    await until(() => watching.stdout.split('\n').length > 4, { describe: 'some lines' });
    process.kill(watching.pid, 'SIGTERM');
    expect(await watching.exited).toMatchObject({ code: 0 });
  });

  it('outlives its session, and a ZooKeeper that is away for longer than that', async () => {
    await using proxy = await startProxy({ target: group.zookeeper });
    const away = env({ PETREL_ZOOKEEPER: proxy.address, PETREL_CONNECT_TIMEOUT: '5s' });
    await using watching = await startProcess(['list', '-w', '3600', '-f', 'json'], away);
    await listed(watching, ['a1']);
    proxy.refuse();
    proxy.resetAll();
    await until(() => watching.stderr.includes('connection to ZooKeeper lost'), {
      describe: 'the loss to be reported',
    });
    await until(() => watching.stderr.includes('ZooKeeper is unreachable'), {
      describe: 'the session to be given up',
      timeoutMs: 25_000,
    });
    await group.node('b1');
    await proxy.heal();
    await listed(watching, ['a1', 'b1']);
    expect(watching.running).toBe(true);
  });
});

describe('output', () => {
  it('that nobody reads any more is no crash', async () => {
    const main = await oncePerRun('build');
    const script = `set -o pipefail; ${process.execPath} ${main} list -w 0.1 | head -n 1`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], {
      env: { ...process.env, ...env() },
    });
    expect(stdout).toContain(`Group ${group.root}`);
    expect(stderr).toBe('');
  });
});

describe('without permission', () => {
  it('exits with 4, and says how to get it', async () => {
    const root = uniqueRoot('private');
    const store = openStore({
      servers: parseConnectionString(group.zookeeper),
      sessionTimeoutMs: 10_000,
      auth: [{ scheme: 'digest', credentials: 'eve:secret' }],
    });
    try {
      await store.connected({ timeoutMs: 10_000 });
      await ensureTree(store, groupPaths(root));
      const refused = await runCommand(['list'], env({ PETREL_ROOT: root }));
      expect(refused).toMatchObject({ code: 4, stdout: '' });
      expect(refused.stderr).toContain('pass credentials with --auth-file or PETREL_AUTH');
      expect((await runCommand(['pause'], env({ PETREL_ROOT: root }))).code).toBe(4);
      const other = env({ PETREL_ROOT: root, PETREL_AUTH: 'digest:eye:secret' });
      expect((await runCommand(['list'], other)).stderr).toContain(
        'digest:eye may not do this, or the password is wrong: pass an operator’s credentials',
      );
      const allowed = await runCommand(
        ['list'],
        env({ PETREL_ROOT: root, PETREL_AUTH: 'digest:eve:secret' }),
      );
      expect(allowed.code).toBe(0);
    } finally {
      await store.close();
    }
  });
});

describe('petrel zookeeper', () => {
  it('serves until it is stopped', async () => {
    await using server = await startProcess(['zookeeper', '--port', '0', '-f', 'json']);
    const text = await until(() => (server.stdout.trimEnd().endsWith('}') ? server.stdout : null), {
      timeoutMs: 20_000,
    });
    const { connectString } = JSON.parse(text);
    const missing = await runCommand(['list'], { PETREL_ZOOKEEPER: connectString });
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no group at /cluster'),
    });
    server.term();
    expect(await server.exited).toMatchObject({ code: 0 });
  });
});
