import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listingSchema } from '../../src/group/listing.js';
import { runProcess } from '../support/agents.js';
import { runCommand } from '../support/command.js';
import { newGroup, type TestGroup } from '../support/group.js';

let group: TestGroup;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'petrel-which-'));
  group = await newGroup();
  await group.node('a1');
  await group.lead('a1', 3);
});
afterAll(async () => {
  await group[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

async function run(groups: string, ...args: string[]) {
  const config = join(directory, 'petrel.yaml');
  await writeFile(config, `zookeeper: ${group.zookeeper}\nnodeId: a1\n${groups}\n`);
  // If the settings are valid, `run` starts a guardian, so it needs a separate process.
  const run = args[0] === 'run' ? runProcess : runCommand;
  return await run(args, { PETREL_CONFIG: config });
}

describe('with the settings of an agent of several groups', () => {
  const several = () => `groups: [{root: ${group.root}}, {root: /another}]`;

  it.each([['list'], ['failover', '--to', 'a1', '--yes'], ['doctor'], ['run', '--', 'true']])(
    'a command without a group chooses none, and names them: %s',
    async (...args) => {
      const { code, stderr, stdout } = await run(several(), ...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toBe(
        `petrel: the settings name several groups; choose one with --root: ${group.root}, /another (petrel list --all shows them)\n`,
      );
    },
  );

  it('a group that is named is used, also while the list is wrong', async () => {
    const wrong = 'groups: [{root: /a}, {root: /a}]';
    for (const groups of [several(), wrong]) {
      const { stdout, stderr } = await run(groups, 'list', '--root', group.root, '-f', 'json');
      expect({ root: listingSchema.parse(JSON.parse(stdout)).root, stderr }).toEqual({
        root: group.root,
        stderr: '',
      });
    }
  });

  it('the only one is meant where there is one; of those below a path, which one has to be said', async () => {
    const { stdout } = await run(`groups: [{root: ${group.root}}]`, 'list', '-f', 'json');
    expect(listingSchema.parse(JSON.parse(stdout)).root).toBe(group.root);
    const { code, stderr } = await run('groupsUnder: /services', 'list');
    expect(code).toBe(2);
    expect(stderr).toBe(
      'petrel: the settings name several groups; choose one with --root: the groups below /services (petrel list --all shows them)\n',
    );
  });

  it('what does not go together is found before it is run', async () => {
    const { code, stderr } = await run('groupsUnder: /s\ngroups: [{root: /s/a/b}]', 'agent', '--dry-run');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'petrel: groups: /s/a/b is below a child of groupsUnder (/s), which is a group itself\n',
    });
  });
});
