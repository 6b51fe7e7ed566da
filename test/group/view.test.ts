import { describe, expect, it } from 'vitest';
import { readGroup } from '../../src/group/view.js';
import { permissions, toAnyone } from '../../src/model/acl.js';
import { builtInRules } from '../../strategies/index.js';
import { connect } from '../support/agent-group.js';
import { newGroup } from '../support/group.js';
import { LossyWay } from '../support/lost-reply.js';

describe('reading a group', () => {
  // The test also fails if there is an unhandled rejection, which would end a real process.
  it('fails once, whichever of its reads are cut off', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1');
    await using way = await LossyWay.to(group.zookeeper);
    const store = connect(way.address);
    try {
      await store.connected();
      for (const path of [group.paths.election, group.paths.nodes, `${group.paths.nodes}/a1`]) {
        const lost = way.loseReplyTo((request) => request.includes(`${path}\0`));
        const reading = readGroup({ store, paths: group.paths, rules: builtInRules });
        await lost;
        await way.breakAndHeal();
        await expect(reading).rejects.toThrow('connection');
        await store.connected();
      }
    } finally {
      await store.close();
    }
  });

  it('is not hindered by one node whose znodes do not let themselves be read', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1');
    await group.lead('b1', 1);
    for (const path of [group.paths.node('b1'), group.paths.current])
      await group.store.setAcl(path, [toAnyone(permissions.admin)], 'any');
    const { members, current, problems } = await readGroup(group.access);
    expect(members.map(({ node, value }) => [node, value !== null])).toEqual([
      ['a1', true],
      ['b1', false],
    ]);
    expect(current).toMatchObject({ value: null, owner: group.session('b1').sessionId });
    expect(problems).toContainEqual({
      path: group.paths.node('b1'),
      node: 'b1',
      problem: 'cannot be read: its ACL does not allow reading it',
    });
  });
});
