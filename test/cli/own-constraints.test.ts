/** User-defined constraints in real agents and commands. */
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listingSchema } from '../../src/group/listing.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { runProcess, startProcess } from '../support/agents.js';
import { GroupView } from '../support/group-view.js';
import { started } from '../support/known.js';
import { uniqueRoot } from '../support/unique-root.js';
import { until } from '../support/until.js';

const example = fileURLToPath(new URL('../../examples/own-constraint/no-spares.mjs', import.meta.url));
let dir = '';
let zookeeper: Awaited<ReturnType<typeof startDevelopmentServer>> | undefined;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer({ tickTimeMs: 250, maxSessionTimeoutMs: 10_000 });
  dir = await mkdtemp(join(tmpdir(), 'petrel-own-'));
});
afterAll(async () => {
  await zookeeper?.close();
  await rm(dir, { recursive: true, force: true });
});

it('move the leader in a group that names them, are explained and listed, and distinguished by version', async () => {
  const [one, two] = [join(dir, 'one.mjs'), join(dir, 'two.mjs')];
  await copyFile(example, one);
  await writeFile(two, (await readFile(example, 'utf8')).replace('1.0.0', '2.0.0'));
  const env = {
    PETREL_ZOOKEEPER: started(zookeeper, 'the ZooKeeper').connectString,
    PETREL_ROOT: uniqueRoot('own'),
    PETREL_SITE: 'here',
    PETREL_SESSION_TIMEOUT: '9s',
    PETREL_CONSTRAINTS: one,
  };
  await using view = new GroupView(env.PETREL_ZOOKEEPER, env.PETREL_ROOT, 3_000);
  const led = (node: string) =>
    until(async () => {
      const leader = await view.leader();
      return leader?.status === 'READY' && leader.node === node;
    });
  const first = await startProcess(['agent', '--tag', 'spare=yes'], { ...env, PETREL_NODE_ID: 'a' });
  await first.logged(/^joined/);
  const second = await startProcess(['agent'], { ...env, PETREL_NODE_ID: 'b', PETREL_CONSTRAINTS: two });
  await second.logged(/^joined/);
  await led('a');

  const set = ['config', 'set', 'constraints', '[no-spares]'];
  const unknown = await runProcess(set, { ...env, PETREL_CONSTRAINTS: '' });
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unknown constraint "no-spares"'),
  });
  expect((await runProcess(set, env)).code).toBe(0);
  await led('b');

  const why = 'it is a spare, and the flag use-spares is not set';
  const explained = await runProcess(['explain'], env);
  expect(explained.stdout).toContain(why);
  const { nodes, problems } = listingSchema.parse(
    JSON.parse((await runProcess(['list', '-f', 'json'], env)).stdout),
  );
  expect(nodes).toMatchObject([{ node: 'a', eligible: false, reasons: [why] }, { eligible: true }]);
  expect(problems).toMatchObject([
    {
      problem: expect.stringMatching(
        /^constraint no-spares differs between nodes.*1\.0\.0\+\w+ on a; 2\.0\.0\+\w+ on b$/,
      ),
    },
  ]);

  const lacking = { ...env, PETREL_CONSTRAINTS: '' };
  expect(await runProcess(['explain'], lacking)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('constraints: unknown constraint "no-spares": expected one of none'),
  });
  expect((await runProcess(['node', 'drain', 'a', '-y'], lacking)).code).toBe(0);
  expect((await runProcess(['config', 'reset', 'constraints'], lacking)).code).toBe(0);
});
