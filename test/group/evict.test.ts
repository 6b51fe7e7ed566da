import { describe, expect, it } from 'vitest';
import type { Author } from '../../src/group/change.js';
import { evict, planEviction } from '../../src/group/evict.js';
import { newestRecords } from '../../src/tree/records.js';
import { newGroup, type TestGroup } from '../support/group.js';

const eve: Author = { by: 'eve', reason: 'power is off' };

async function left(group: TestGroup) {
  const { children: seats } = await group.store.getChildren(group.paths.election);
  const { children: nodes } = await group.store.getChildren(group.paths.nodes);
  const claim = await group.store.exists(group.paths.current);
  return {
    seats: seats.map((name) => name.slice(0, 2)).toSorted(),
    nodes: nodes.toSorted(),
    claim: claim !== null,
  };
}

async function ledGroup(): Promise<TestGroup> {
  const group = await newGroup();
  await group.node('a1');
  await group.node('b1');
  await group.lead('a1', 1);
  return group;
}

describe('evicting', () => {
  it('takes seat and registration, leaves the claim, and is recorded', async () => {
    await using group = await ledGroup();
    const eviction = await evict(group.access, eve, { node: 'a1', dead: false });
    expect(eviction).toMatchObject({
      leavesClaim: true,
      removes: [expect.stringMatching(/^seat a1-/), expect.stringMatching(/^registration/)],
    });
    expect(await left(group)).toEqual({ seats: ['b1'], nodes: ['b1'], claim: true });
    const [record] = await newestRecords(group.store, group.paths, 1);
    expect(record?.value).toMatchObject({
      kind: 'change',
      by: 'eve',
      what: 'node a1: evicted',
      reason: 'power is off',
    });
  });

  it('takes the claim too on the word that the node is dead', async () => {
    await using group = await ledGroup();
    await evict(group.access, eve, { node: 'a1', dead: true });
    expect(await left(group)).toEqual({ seats: ['b1'], nodes: ['b1'], claim: false });
  });

  it('never takes the claim of another', async () => {
    await using group = await ledGroup();
    await evict(group.access, eve, { node: 'b1', dead: true });
    expect(await left(group)).toEqual({ seats: ['a1'], nodes: ['a1'], claim: true });
  });

  it('takes a seat or claim whose owner is not registered', async () => {
    await using group = await ledGroup();
    await group.session('a1').delete(group.paths.node('a1'), 'any');
    const plan = await planEviction(group.access, { node: 'a1', dead: true });
    expect(plan).toMatchObject({ alive: null, leavesClaim: false });
    await evict(group.access, eve, { node: 'a1', dead: false });
    expect(await left(group)).toEqual({ seats: ['b1'], nodes: ['b1'], claim: true });
    await expect(evict(group.access, eve, { node: 'a1', dead: false })).rejects.toMatchObject({
      code: 'REFUSED',
      reasons: [expect.stringContaining('only the claim of a1 is left')],
    });
    await evict(group.access, eve, { node: 'a1', dead: true });
    expect((await left(group)).claim).toBe(false);
  });

  it('of one that is not there is refused', async () => {
    await using group = await ledGroup();
    await expect(evict(group.access, eve, { node: 'c1', dead: true })).rejects.toMatchObject({
      code: 'REFUSED',
      reasons: ['c1 has no seat, registration or claim; registered nodes: a1, b1'],
    });
  });

  it('says by what a node seems to live, or to lead', async () => {
    await using group = await ledGroup();
    const alive = async (node: string) => (await planEviction(group.access, { node, dead: true })).alive;
    expect(await alive('b1')).toMatchObject({ leads: false, sign: expect.stringContaining('its session') });
    expect(await alive('a1')).toMatchObject({ leads: true, sign: expect.stringContaining('READY') });
    await group.elect({ node: 'b1', site: 'b', term: 2 });
    expect(await alive('a1')).toMatchObject({ leads: false });
    await group.session('a1').delete(group.paths.node('a1'), 'any');
    expect(await alive('a1')).toBeNull();
  });

  it('spares a successor that claimed after the group was read', async () => {
    await using group = await ledGroup();
    let attempts = 0;
    const accept = async () => {
      attempts += 1;
      if (attempts > 1) return;
      // a1's claim is deleted, and b1 makes a claim whose version is the same. Like every claim, it updates
      // the registration of its node.
      await group.session('a1').delete(group.paths.current, 'any');
      await group.elect({ node: 'b1', site: 'b', term: 2 });
      await group.claim('b1', { term: 2 });
      await group
        .session('b1')
        .set(group.paths.node('b1'), (await group.store.getData(group.paths.node('b1'))).data, 'any');
    };
    await evict(group.access, eve, { node: 'a1', dead: true }, accept);
    expect(attempts).toBe(2);
    expect(await left(group)).toEqual({ seats: ['b1'], nodes: ['b1'], claim: true });
  });
});
