import { describe, expect, it } from 'vitest';
import { readGroup } from '../../src/group/view.js';
import { connect } from '../support/agent-group.js';
import { newGroup } from '../support/group.js';
import { LossyWay } from '../support/lost-reply.js';

describe('reading a group', () => {
  // A failure that nobody hears of ends the process: the test runner counts it as an error.
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
        const reading = readGroup(store, group.paths);
        await lost;
        await way.breakAndHeal();
        await expect(reading).rejects.toThrow('connection');
        await store.connected();
      }
    } finally {
      await store.close();
    }
  });
});
