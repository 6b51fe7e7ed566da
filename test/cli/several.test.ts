/** Runs the examples of docs/guides/groups.md and docs/guides/leaders.md unchanged. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { groupLinesSchema } from '../../src/group/all-groups.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { connect, Group } from '../support/agent-group.js';
import { startProcess } from '../support/agents.js';
import { runCommand } from '../support/command.js';
import { patient, sessionTimeoutMs } from '../support/led-group.js';
import { until } from '../support/until.js';

let zookeeper: DevelopmentServer;
let directory: string;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer(patient);
  directory = mkdtempSync(join(tmpdir(), 'petrel-several-'));
});
afterAll(async () => {
  await zookeeper.close();
  rmSync(directory, { recursive: true });
});

const patience = { timeoutMs: 90_000 };

function blocks(page: string, language: 'sh' | 'yaml'): string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/guides/${page}`, import.meta.url)), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block = '']) => block,
  );
}

/** Returns the commands inside the sentences of a page. */
function inline(page: string): string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/guides/${page}`, import.meta.url)), 'utf8');
  return [...text.matchAll(/`(petrel [^`]*)`/g)].map(([, command = '']) => command);
}

/** Returns the arguments that follow `petrel`, with `file` instead of petrel.yaml. */
function argumentsOf(command: string, file = ''): string[] {
  return command
    .trim()
    .split(' ')
    .slice(1)
    .map((word) => (word === 'petrel.yaml' ? file : word));
}

/** Replaces a program of the machine with one that records its arguments and succeeds. */
function program(name: string): void {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\necho "$PETREL_NODE ${name} $*" >> ${directory}/calls\n`);
  chmodSync(path, 0o755);
}

it('an agent is in the groups of docs/guides/groups.md, with their hooks, and in every child of a path', async () => {
  for (const name of ['systemctl', 'curl']) program(name);
  const file = (name: string, text = '') => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const [groups, under] = blocks('groups.md', 'yaml');
  const [agent = '', list = '', switchover = ''] = blocks('groups.md', 'sh').join('').trim().split('\n');
  const path = file('petrel.yaml', groups);
  const env = { PETREL_ZOOKEEPER: zookeeper.connectString, PATH: `${directory}:${process.env.PATH}` };
  const started = (node: string, settings: string) =>
    startProcess(argumentsOf(agent, settings), { ...env, PETREL_NODE_ID: node });
  const leads = (node: string, root: string) =>
    until(async () => {
      const { stdout } = await runCommand(argumentsOf(`${list} -f json`, path), env);
      const lines = groupLinesSchema.parse(JSON.parse(stdout));
      return lines.some((line) => line.root === root && line.leader === node && line.status === 'READY');
    }, patience);
  const called = (what: string) =>
    until(() => readFileSync(join(directory, 'calls'), 'utf8').includes(what), patience);

  await using _a1 = await started('a1', path);
  for (const root of ['/services/billing', '/services/reports', '/services/search']) await leads('a1', root);
  await called('a1 systemctl start reports');
  await called('a1 curl -fsS http://localhost:9200/_cluster/health');
  await using b1 = await started('b1', path);
  await b1.logged(({ msg, root }) => root === '/services/reports' && msg.startsWith('joined'), patience);
  expect(await runCommand(argumentsOf(switchover), env)).toMatchObject({ code: 0 });
  await leads('b1', '/services/reports');
  await called('a1 systemctl stop reports');
  await leads('a1', '/services/billing');

  const store = connect(zookeeper.connectString);
  await store.connected();
  await using _c1 = await started('c1', file('under.yaml', under));
  await store.create('/services/orders', Buffer.alloc(0), 'persistent');
  const orders = ['list', '--root', '/services/orders'];
  await until(async () => (await runCommand(orders, env)).stdout.includes('c1 (site'), patience);
  await store.close();
});

it('a group has the leaders of docs/guides/leaders.md', async () => {
  await using group = await Group.found(zookeeper.connectString);
  const env = { PETREL_ZOOKEEPER: zookeeper.connectString, PETREL_ROOT: group.root };
  await group.startInOrder(['a', 'b'], { sessionTimeoutMs });
  await group.ready('a');
  const [set = ''] = blocks('leaders.md', 'sh');
  expect(set.trim()).toBe('petrel config set leaders 3');
  expect(await runCommand(argumentsOf(set), env)).toMatchObject({ code: 0 });
  const run = async (command: string, more = '') => {
    expect(inline('leaders.md')).toContain(command);
    return await runCommand(argumentsOf(`${command}${more}`), env);
  };
  await until(
    async () => (await run('petrel list')).stdout.includes('Slot 2: Leader: b (site here)'),
    patience,
  );
  expect((await run('petrel explain --slot 3')).stdout).toContain('slot 3');
  await group.start('c', { sessionTimeoutMs }).joined();
  await until(
    async () => (await run('petrel list')).stdout.includes('Slot 3: Leader: c (site here)'),
    patience,
  );
  const rows = async (more: string) =>
    (await run('petrel list', ` --all --under ${group.root} ${more}`)).stdout.trim().split('\n');
  const slots = [/^\S+\s+a\s+READY\s+1:1\s/, /^\S+\s+b\s+READY\s+2:1\s/, /^\S+\s+c\s+READY\s+3:1\s/];
  for (const more of ['', '-f tsv']) {
    await until(async () => {
      const [, ...all] = await rows(more);
      expect(all).toEqual(slots.map((slot) => expect.stringMatching(slot)));
      return true;
    }, patience);
  }
  await group.start('d', { sessionTimeoutMs }).joined();
  expect(await run('petrel switchover', ' --slot 2 --to d --yes')).toMatchObject({ code: 0 });
  // The elector records a term only after its leader is READY.
  await until(async () => {
    const all = (await run('petrel history')).stdout;
    return ['2:1', '2:2', '3:1'].every((term) => all.includes(` ${term} `));
  }, patience);
  const ofSecond = (await run('petrel history', ' --slot 2')).stdout;
  expect(ofSecond).toContain(' 2:2 ');
  expect(ofSecond).not.toContain(' 3:1 ');
  const logContext = await runCommand(['history', '--term', '2', '--slot', '2'], env);
  expect(logContext.stdout).toContain(`Term 2 of ${group.root}, slot 2, d: READY`);
  const awaited = await runCommand(['wait', '--term', '2', '--slot', '2'], env);
  expect(awaited).toMatchObject({ code: 0 });
  for (const node of ['b', 'd']) await runCommand(['node', 'drain', node, '--yes', '--no-wait'], env);
  // The term has no node as soon as it is decided, but d may still be releasing.
  await until(async () => {
    const lost = await runCommand(['wait', '--term', '3', '--slot', '2'], env);
    return lost.stdout.includes('Now: no leader (term 3)');
  }, patience);
});
