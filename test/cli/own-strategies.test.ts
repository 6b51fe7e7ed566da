/** User-defined strategies in real agents and commands. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listingSchema } from '../../src/group/listing.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { runProcess, startProcess } from '../support/agents.js';
import { GroupView } from '../support/group-view.js';
import { started } from '../support/known.js';
import { uniqueRoot } from '../support/unique-root.js';
import { until } from '../support/until.js';

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

/**
 * Returns a strategy that ranks the last node by name first. With the option `loops`, the strategy never
 * answers if there is a node c.
 */
async function lastByName(version: string): Promise<string> {
  const path = join(dir, `last-${version}.mjs`);
  await writeFile(
    path,
    `export default {
      name: 'last-by-name',
      version: '${version}',
      description: 'the last by name',
      options: { safeParse: (data) => ({ success: true, data }) },
      rank: ({ candidates, options }) => {
        while (options.loops && candidates.some(({ node }) => node === 'c')) {}
        return candidates.map(({ node }) => node).reverse().map((node, grade) => ({ node, grade, reason: 'it is last' }));
      },
    };`,
  );
  return path;
}

it('elect in agents, are explained by commands, distinguished by version, and stop no agent', async () => {
  const [one, two] = [await lastByName('1'), await lastByName('2')];
  const env = {
    PETREL_ZOOKEEPER: started(zookeeper, 'the ZooKeeper').connectString,
    PETREL_ROOT: uniqueRoot('own'),
    PETREL_SITE: 'here',
    PETREL_SESSION_TIMEOUT: '9s',
    PETREL_STRATEGIES: one,
  };
  const list = async () =>
    listingSchema.parse(JSON.parse((await runProcess(['list', '-f', 'json'], env)).stdout));
  await using view = new GroupView(env.PETREL_ZOOKEEPER, env.PETREL_ROOT, 3_000);
  const led = (is: (node: string) => boolean) =>
    until(async () => {
      const leader = await view.leader();
      return leader?.status === 'READY' && is(leader.node);
    });

  const first = await startProcess(['agent'], { ...env, PETREL_NODE_ID: 'a' });
  await first.logged(/^joined/);
  await led((node) => node === 'a');
  const unknown = await runProcess(['config', 'set', 'strategy', 'last-by-name'], {
    ...env,
    PETREL_STRATEGIES: '',
  });
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unknown strategy "last-by-name"'),
  });
  const set = ['config', 'set', 'strategy', 'last-by-name', 'failbackHold', '0s'];
  expect((await runProcess(set, env)).code).toBe(0);

  const second = await startProcess(['agent'], { ...env, PETREL_NODE_ID: 'b', PETREL_STRATEGIES: two });
  await second.logged(/^joined/);
  await led((node) => node === 'b');
  const listing = await list();
  expect(listing.elected.reason).toBe('better than a: it is last');
  expect(listing.problems).toMatchObject([
    {
      problem: expect.stringMatching(
        /^strategy last-by-name differs between nodes.*1\+\w+ on a; 2\+\w+ on b$/,
      ),
    },
  ]);
  const explained = await runProcess(['explain'], env);
  expect(explained.stdout).toContain('b remains elected (term 2): it is last');

  expect((await runProcess(['config', 'set', 'strategyOptions.loops', 'true'], env)).code).toBe(0);
  const third = await startProcess(['agent'], { ...env, PETREL_NODE_ID: 'c' });
  await third.logged(/^joined/);
  await until(() =>
    [first, second, third].some(({ log }) => log.some(({ msg }) => /^no node can run/.test(msg))),
  );
  second.signal('SIGTERM');
  await led((node) => node !== 'b');
  const failed = await runProcess(['explain'], env);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('strategy last-by-name') });
});
