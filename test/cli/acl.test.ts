/** `petrel acl`, and the results of commands that other roles run in a group with ACLs. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doctorSchema } from '../../src/cli/commands/doctor.js';
import { accessOptions } from '../../src/config/access-settings.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';
import { connect, Group } from '../support/agent-group.js';
import { runCommand } from '../support/command.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { canary, secrets } from '../support/secrets.js';

const { agents, operators, observers } = secrets.zooKeeper;
const acl = {
  PETREL_ACL_AGENTS: digestIdentity(agents).id,
  PETREL_ACL_OPERATORS: digestIdentity(operators).id,
  PETREL_ACL_OBSERVERS: digestIdentity(observers).id,
};
const asAgent = { ...acl, PETREL_AUTH: `digest:${agents}` };
const asOperator = { ...acl, PETREL_AUTH: `digest:${operators}` };
const asObserver = { PETREL_AUTH: `digest:${observers}` };

let group: Group;
afterEach(() => group[Symbol.asyncDispose]());

async function petrel(args: string, env: Record<string, string>) {
  const ended = await runCommand(args.split(' '), {
    PETREL_ZOOKEEPER: group.connectString,
    PETREL_ROOT: group.root,
    ...env,
  });
  expect(ended.stdout + ended.stderr).not.toContain(canary);
  return ended;
}

function securityOf(world: 'none' | 'all', root: string) {
  return accessOptions(
    {
      auth: `digest:${agents}`,
      authFile: null,
      aclAgents: [acl.PETREL_ACL_AGENTS],
      aclOperators: [acl.PETREL_ACL_OPERATORS],
      aclObservers: [acl.PETREL_ACL_OBSERVERS],
      aclWorld: world,
    },
    () => root,
  );
}

describe('in a group on its way to ACLs', () => {
  beforeEach(async () => {
    const root = uniqueRoot('acl');
    group = await Group.found(await sharedZooKeeper(), {}, root, securityOf('all', root));
    await group.startInOrder(['a1', 'b1']);
    await group.ready('a1');
  });

  it('the message to a client that may not read it does not say that there is none', async () => {
    await petrel('acl apply -y', asAgent);
    const listed = await petrel(`list --all --under ${group.root}`, {});
    expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining('no permission to read') });
    expect((await petrel(`list --all --under ${group.root}`, asAgent)).stderr).toBe('');
  });

  it('an agent’s credentials close it, and each role then does what is its own', async () => {
    expect(await petrel('acl digest', asAgent)).toMatchObject({
      stdout: `${acl.PETREL_ACL_AGENTS}\n`,
      code: 0,
    });
    expect(await petrel('acl apply -y', asAgent)).toMatchObject({ code: 0 });
    const shown = JSON.parse((await petrel('acl show -f json', asAgent)).stdout);
    expect(shown.length).toBeGreaterThan(8);
    expect(shown.filter(({ right }: { right: boolean }) => !right)).toEqual([]);

    expect((await petrel('pause', asObserver)).code).toBe(4);
    expect((await petrel('pause', asOperator)).code).toBe(0);
    const other = await petrel('resume', { PETREL_AUTH: `digest:${operators}` });
    expect(other).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('set acl.* as on the group’s agents'),
    });
    expect((await petrel('history', asObserver)).stdout).toContain('paused');
    expect(group.members[0]?.status.leads).toBe(true);
  });
});

describe('in an open group', () => {
  it('an agent without credentials is not locked out unasked', async () => {
    group = await Group.found(await sharedZooKeeper());
    await group.startInOrder(['a1']);
    expect((await petrel('acl apply', { ...asAgent, PETREL_ACL_WORLD: 'all' })).code).toBe(0);
    const refused = await petrel('acl apply', asAgent);
    expect(refused).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('a1 runs without an agent’s credentials'),
    });
    const open = await petrel('doctor', asAgent);
    expect(open).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^error +acl .*\n +→ .*petrel acl apply/),
    });
    const well = await petrel('doctor -f json', {});
    expect(well.code).toBe(0);
    expect(doctorSchema.parse(JSON.parse(well.stdout)).findings.length).toBeGreaterThan(8);
    const store = connect(group.connectString);
    await store.connected();
    expect((await store.getAcl(group.paths.node('a1'))).acl).toHaveLength(1);
    await store.close();
  });
});
