import { expect, it } from 'vitest';
import { findGroups, groupLinesSchema, readGroups } from '../../src/group/all-groups.js';
import { KeptClock } from '../../src/group/time.js';
import { systemClock } from '../../src/ports/clock.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { builtInRules } from '../../strategies/index.js';
import { Group } from '../support/agent-group.js';
import { until } from '../support/until.js';

it('all groups below a path are found, and listed in a line each, also one that is not there', async () => {
  await using server = await startDevelopmentServer();
  await using db = await Group.found(server.connectString, {}, '/services/db');
  await using web = await Group.found(server.connectString, {}, '/services/deep/web');
  await using _other = await Group.found(server.connectString, {}, '/other');
  db.start('a1');
  await db.ready('a1');
  const { store } = web;
  expect(await findGroups(store, '/')).toEqual(['/other', '/services/db', '/services/deep/web']);
  expect(await findGroups(store, '/services')).toEqual(['/services/db', '/services/deep/web']);
  expect(await findGroups(store, '/nowhere')).toEqual([]);
  const lines = await readGroups(
    { store, rules: builtInRules },
    ['/services/db', '/services/deep/web', '/nowhere'],
    new KeptClock(systemClock),
  );
  expect(groupLinesSchema.parse(lines)).toEqual(lines);
  expect(lines[0]).toMatchObject({ root: '/services/db', leader: 'a1', status: 'READY', term: 1, nodes: 1 });
  expect(lines[1]).toMatchObject({ leader: null, status: null, elector: null, nodes: 0, problem: null });
  expect(lines[2]?.problem).toContain('/nowhere');
  expect(lines[2]?.leaders).toEqual([]);
});

it('a group with several leaders is listed with all of its slots', async () => {
  await using server = await startDevelopmentServer();
  await using group = await Group.found(server.connectString, { leaders: 3 }, '/services/cache');
  await group.startInOrder(['a1', 'a2']);
  const read = async () =>
    (
      await readGroups({ store: group.store, rules: builtInRules }, [group.root], new KeptClock(systemClock))
    )[0];
  const leaders = await until(async () => {
    const slots = (await read())?.leaders ?? [];
    return slots.filter(({ status }) => status === 'READY').length === 2 && slots;
  });
  expect(leaders.map(({ slot }) => slot)).toEqual([1, 2, 3]);
  expect(leaders.map(({ leader }) => leader).toSorted()).toEqual(['a1', 'a2', null]);
  const line = await read();
  expect(line).toMatchObject({
    leader: leaders[0]?.leader,
    status: leaders[0]?.status,
    term: leaders[0]?.term,
  });
});
