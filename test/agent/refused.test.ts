import { expect, it } from 'vitest';
import { Petrel } from '../../src/index.js';
import { FakeServer, op, type Request, type Talk } from '../zookeeper/fake-server.js';

const authFailed = -115;
const saslRequired = -124;

function refuseCredentials(talk: Talk, { xid, type }: Request): void {
  if (type === op.AUTH) talk.reply(xid, { error: authFailed });
}

function demandAnotherKind(talk: Talk, { xid, type }: Request): void {
  talk.reply(xid, type === op.AUTH ? {} : { error: saslRequired });
}

it.each([
  ['does not take its credentials', refuseCredentials],
  ['demands another kind of authentication', demandAnotherKind],
])('a node gives up, and says why, where ZooKeeper %s', async (_, request) => {
  await using server = await FakeServer.start({ request });
  const joining = Petrel.join({ zookeeper: server.address, nodeId: 'a1', credentials: 'eve:secret' });
  await expect(joining).rejects.toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringContaining('no permission to use /cluster'),
  });
  expect(server.talks).toHaveLength(1);
});
