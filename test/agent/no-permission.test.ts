/** T6: a refusal names the ACL that forbids, and the identity that was refused. */
import { expect, it } from 'vitest';
import { ensureTree } from '../../src/agent/tree.js';
import { groupPaths } from '../../src/core/paths.js';
import { readGroup } from '../../src/group/view.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';

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
      new RegExp(`no permission to create ${apps}/billing, by the ACL of ${apps} \\(.*, as digest:eve\\)`),
    );
    await expect(ensureTree(nobody, paths)).rejects.toThrow('as world:anyone, without credentials');
    await expect(ensureTree(eve, paths)).rejects.not.toThrow('s3cret');
    await expect(readGroup(admin, paths)).rejects.toThrow('An agent that may not says so in its log');
  } finally {
    await Promise.all([admin, eve, nobody].map((store) => store.close()));
  }
});
