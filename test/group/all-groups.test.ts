import { expect, it } from 'vitest';
import { findGroups, groupLinesSchema, readGroups } from '../../src/group/all-groups.js';
import { KeptClock } from '../../src/group/time.js';
import { systemClock } from '../../src/ports/clock.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { Group } from '../support/agent-group.js';

it('all groups below a path are found, and told of in a line each, also one that is not there', async () => {
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
    store,
    ['/services/db', '/services/deep/web', '/nowhere'],
    new KeptClock(systemClock),
  );
  expect(groupLinesSchema.parse(lines)).toEqual(lines);
  expect(lines[0]).toMatchObject({ root: '/services/db', leader: 'a1', status: 'READY', term: 1, nodes: 1 });
  expect(lines[1]).toMatchObject({ leader: null, status: null, elector: null, nodes: 0, problem: null });
  expect(lines[2]?.problem).toContain('/nowhere');
});
