/**
 * Fault T6 (docs/reports/faults.md): an error about a denied access names the ACL that denies it, and the
 * identity of the client.
 */

import { expect, it } from 'vitest';
import { errorMessage } from '../../src/errors.js';
import { verifyToken } from '../../src/group/token.js';
import { readGroup } from '../../src/group/view.js';
import { permissions, toAnyone } from '../../src/model/acl.js';
import { type GroupPaths, groupPaths } from '../../src/model/paths.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store.js';
import { ensureTree } from '../../src/tree/ensure-tree.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { builtInRules } from '../../strategies/index.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { until } from '../support/until.js';

const digest = (credentials: string) => [{ scheme: 'digest', credentials }] as const;

it('T6 a group that may not be made names the ACL that forbids it, and the identity used', async () => {
  const servers = parseConnectionString(await sharedZooKeeper());
  const admin = openStore({ servers, sessionTimeoutMs: 10_000, auth: digest('admin:s3cret') });
  const eve = openStore({ servers, sessionTimeoutMs: 10_000, auth: digest('eve:s3cret') });
  const nobody = openStore({ servers, sessionTimeoutMs: 10_000 });
  try {
    await Promise.all([admin, eve, nobody].map((store) => store.connected({ timeoutMs: 10_000 })));
    const apps = uniqueRoot('apps');
    await admin.create(apps, Buffer.alloc(0), 'persistent');
    const paths = groupPaths(`${apps}/billing`);
    await expect(ensureTree(eve, paths)).rejects.toThrow(
      new RegExp(
        `no permission to create ${apps}/billing, because of the ACL of ${apps} \\(.*, as digest:eve\\)`,
      ),
    );
    await expect(ensureTree(nobody, paths)).rejects.toThrow('as world:anyone, without credentials');
    await expect(ensureTree(eve, paths)).rejects.not.toThrow('s3cret');
  } finally {
    await Promise.all([admin, eve, nobody].map((store) => store.close()));
  }
});

it('T6 a claim that may not be made names the ACL that forbids it', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const { store, paths } = group;
  const { stat } = await store.getAcl(paths.leader);
  await store.setAcl(paths.leader, [toAnyone(permissions.read)], stat.aversion);
  const a = group.start('a');
  await until(() => a.ended !== null);
  expect(a.ended?.error).toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringContaining(
      `no permission to create ${paths.current}, because of the ACL of ${paths.leader} (`,
    ),
  });
});

it('T6 the error for a missing group names the ACL that decides who may create it, and the caller', async () => {
  const servers = parseConnectionString(await sharedZooKeeper());
  const admin = openStore({ servers, sessionTimeoutMs: 10_000, auth: digest('admin:s3cret') });
  const open = { servers, sessionTimeoutMs: 10_000, acl: 'open' } as const;
  const eve = openStore({ ...open, auth: digest('eve:s3cret') });
  const nobody = openStore(open);
  const errorFor = (store: Store, paths: GroupPaths) =>
    readGroup({ store, paths, rules: builtInRules }).then(() => 'a group', errorMessage);
  try {
    await Promise.all([admin, eve, nobody].map((store) => store.connected({ timeoutMs: 10_000 })));
    const [closed, shared] = [uniqueRoot('closed'), uniqueRoot('shared')];
    await admin.create(closed, Buffer.alloc(0), 'persistent');
    await nobody.create(shared, Buffer.alloc(0), 'persistent');
    const { acl, stat } = await admin.getAcl(closed);
    await admin.setAcl(closed, [...acl, toAnyone(permissions.read)], stat.aversion);

    const group = groupPaths(`${closed}/deep/billing`);
    const shown = `According to the ACL of ${closed} (digest:admin:cdrwa, world:anyone:r)`;
    expect(await errorFor(eve, group)).toContain(
      `${shown}, this process may not create it (as digest:eve). Give`,
    );
    expect(await errorFor(nobody, group)).toContain('create it (as world:anyone, without credentials). Give');
    expect(await errorFor(admin, group)).toContain(
      `${shown}, this process may create it (as digest:admin). Give`,
    );
    expect(await errorFor(eve, group)).not.toContain('s3cret');
    await expect(
      verifyToken({ store: eve, paths: group, rules: builtInRules, clock: systemClock }, 1n),
    ).rejects.toThrow(shown);

    await admin.setAcl(closed, acl, 'any');
    expect(await errorFor(eve, group)).toContain(
      `ACL of ${closed} (which this process may not read), this process may not create it`,
    );
    expect(await errorFor(eve, groupPaths(`${shared}/billing`))).toContain(
      'If an agent lacks permission to create it, the log of the agent says so',
    );
  } finally {
    await Promise.all([admin, eve, nobody].map((store) => store.close()));
  }
});
