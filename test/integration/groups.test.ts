/** Agents that are in several groups at the same time. Uses real processes and the command line. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aclsSchema } from '../../src/cli/commands/acl.js';
import { groupPaths } from '../../src/model/paths.js';
import { claimSchema } from '../../src/model/znodes.js';
import type { Store } from '../../src/ports/store.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';
import { connect } from '../support/agent-group.js';
import { type PetrelProcess, startProcess } from '../support/agents.js';
import { runCommand } from '../support/command.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { until } from '../support/until.js';

let directory: string;
let store: Store;
const parent = uniqueRoot('groups');
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'petrel-groups-'));
  store = connect(await sharedZooKeeper());
  await store.connected();
  await store.create(parent, Buffer.alloc(0), 'persistent');
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const rootOf = (name: string) => `${parent}/${name}`;

/** Writes the settings of a node of these groups. The takeover of the group `stuck` never ends. */
function write(node: string, groups: readonly string[]): string {
  const path = join(directory, `${node}.yaml`);
  const hook = (text: string) => `echo "${node} ${text} $PETREL_ROOT" >> ${directory}/hooks.log`;
  const stuck = `{root: ${rootOf('stuck')}, hooks: {onTakeover: sleep 1000}}`;
  const entries = groups.map((name) => (name === 'stuck' ? stuck : `{root: ${rootOf(name)}}`));
  writeFileSync(
    path,
    [
      `nodeId: ${node}`,
      'hooks:',
      `  onTakeover: ${JSON.stringify(`${hook('leads')}; sleep 1000 &`)}`,
      `  onRelease: ${JSON.stringify(hook('released'))}`,
      'groups:',
      ...entries.map((entry) => `  - ${entry}`),
      '',
    ].join('\n'),
  );
  return path;
}

async function start(node: string, groups: readonly string[]): Promise<PetrelProcess> {
  const env = { PETREL_ZOOKEEPER: await sharedZooKeeper() };
  return await startProcess(['agent', '--config', write(node, groups)], env);
}

/** Returns the READY leader of a group, or null if there is none. */
async function leaderOf(name: string): Promise<string | null> {
  const { current } = groupPaths(rootOf(name));
  if ((await store.exists(current)) === null) return null;
  const { data } = await store.getData(current);
  const { node, status } = claimSchema.parse(JSON.parse(data.toString('utf8')));
  return status === 'READY' ? node : null;
}

async function led(names: readonly string[], by: string): Promise<void> {
  await until(async () => (await Promise.all(names.map(leaderOf))).every((node) => node === by), {
    timeoutMs: 60_000,
    describe: `${by} to lead ${names.join(', ')}`,
  });
}

const hookLog = () => readFileSync(join(directory, 'hooks.log'), 'utf8');

it('lead those whose hooks work while the hook of another hangs, join and leave on SIGHUP, and hand all over when killed', async () => {
  await using a = await start('a1', ['db', 'stuck', 'web']);
  await led(['db', 'web'], 'a1');
  expect(await leaderOf('stuck')).toBeNull();
  await using _b = await start('b1', ['db', 'stuck', 'web', 'new']);
  await led(['new'], 'b1');

  write('a1', ['db', 'stuck', 'new']);
  process.kill(a.pid, 'SIGHUP');
  await led(['web'], 'b1');
  expect(hookLog()).toContain(`a1 released ${rootOf('web')}`);
  await until(async () => {
    const { children } = await store.getChildren(groupPaths(rootOf('web')).nodes);
    return children.join() === 'b1';
  });
  await until(async () => (await store.getChildren(groupPaths(rootOf('new')).nodes)).children.length === 2);
  expect(await leaderOf('db')).toBe('a1');

  const { agentPid } = a;
  if (agentPid === null) throw new Error('there is no agent');
  const session = (await store.exists(groupPaths(rootOf('db')).current))?.ephemeralOwner;
  process.kill(agentPid, 'SIGKILL');
  await led(['db', 'web', 'new'], 'b1');
  expect(hookLog()).toContain(`a1 released ${rootOf('db')}`);
  const stuck = await store.exists(groupPaths(rootOf('stuck')).current);
  expect(stuck?.ephemeralOwner).not.toBe(session);
});

it('are in every group below a path, as those come and go', async () => {
  const path = join(directory, 'under.yaml');
  const under = rootOf('under');
  writeFileSync(path, `nodeId: u1\ngroupsUnder: ${under}\n`);
  await using agent = await startProcess(['agent', '--config', path], {
    PETREL_ZOOKEEPER: await sharedZooKeeper(),
  });
  await store.create(under, Buffer.alloc(0), 'persistent');
  await store.create(`${under}/one`, Buffer.alloc(0), 'persistent');
  await led(['under/one'], 'u1');
  await store.create(`${under}/two`, Buffer.alloc(0), 'persistent');
  await led(['under/one', 'under/two'], 'u1');
  agent.term();
  expect((await agent.exited).code).toBe(0);
  expect(await leaderOf('under/one')).toBeNull();
});

it('are none of the znodes of a group that somebody took for a folder of groups', async () => {
  const paths = groupPaths(rootOf('lone'));
  const env = { PETREL_ZOOKEEPER: await sharedZooKeeper() };
  await using _lone = await startProcess(['agent', '--root', paths.root, '--node-id', 'l1'], env);
  await led(['lone'], 'l1');
  const before = (await store.getChildren(paths.config)).children;
  await using mistaken = await startProcess(['agent', '--groups-under', paths.root, '--node-id', 'l2'], env);
  await mistaken.logged(/lone is itself a group; the znodes of that group are not treated as groups/);
  await store.create(`${paths.root}/child`, Buffer.alloc(0), 'persistent');
  await led(['lone/child'], 'l2');
  expect((await store.getChildren(paths.config)).children).toEqual(before);
});

it('have each the ACLs of a group, so that its operators can change it', async () => {
  const agents = digestIdentity('petrel:s3cret').id;
  const operators = digestIdentity('ops:s3cret').id;
  const acl = {
    PETREL_ZOOKEEPER: await sharedZooKeeper(),
    PETREL_ACL_AGENTS: agents,
    PETREL_ACL_OPERATORS: operators,
  };
  const [listed, below] = [rootOf('listed'), rootOf('below')];
  await using agent = await startProcess(['agent', '--node-id', 'c1', '--groups-under', below], {
    ...acl,
    PETREL_AUTH: 'digest:petrel:s3cret',
    PETREL_GROUPS: JSON.stringify([{ root: listed }]),
  });
  await agent.logged(/READY/);
  await store.create(below, Buffer.alloc(0), 'persistent');
  await store.create(`${below}/one`, Buffer.alloc(0), 'persistent');
  await until(() => agent.log.filter(({ msg }) => msg.startsWith('READY')).length === 2);
  for (const root of [listed, `${below}/one`]) {
    const operator = { ...acl, PETREL_AUTH: 'digest:ops:s3cret', PETREL_ROOT: root };
    // The root of one group was created by hand, so its ACL is not checked.
    const shown = await runCommand(['acl', 'show', '-f', 'json'], operator);
    const wrong = aclsSchema
      .parse(JSON.parse(shown.stdout))
      .filter(({ path, right }) => !right && path !== root);
    expect(wrong).toEqual([]);
    expect(await runCommand(['pause'], operator)).toMatchObject({ code: 0, stderr: '' });
  }
});
