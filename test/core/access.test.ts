import { describe, expect, it } from 'vitest';
import { type Access, aclOf } from '../../src/model/access.js';
import { type Acl, aclText, type Identity, isAlike, openAcl, permissions } from '../../src/model/acl.js';
import { groupPaths } from '../../src/model/paths.js';

const paths = groupPaths('/cluster');
const digest = (id: string): Identity => ({ scheme: 'digest', id });
const access: Access = {
  agents: [digest('petrel:old'), digest('petrel:new')],
  operators: [digest('ops:1')],
  observers: [digest('eye:1')],
  world: 'none',
};

describe('the ACL of a znode', () => {
  it.each([
    ['/cluster', 'r'],
    [paths.config, 'rw'],
    [paths.clock, 'rw'],
    [paths.history, 'cr'],
    [paths.historyPrefix, 'r'],
    [paths.nodes, 'dr'],
    [paths.node('a1'), 'r'],
    [paths.election, 'dr'],
    [paths.seatPrefix('a1'), 'r'],
    [paths.leader, 'dr'],
    [paths.elected, 'r'],
    [paths.current, 'r'],
    [paths.scores, 'r'],
    [paths.score('a1'), 'r'],
    ['/', 'r'],
  ])('%s lets operators %s', (path, letters) => {
    expect(aclText(aclOf(access, paths, path))).toBe(
      `digest:petrel:cdrwa, digest:petrel:cdrwa, digest:ops:${letters}, digest:eye:r`,
    );
  });

  it.each([
    ['read', 'world:anyone:r'],
    ['all', 'world:anyone:cdrwa'],
  ] as const)('lets the world %s', (world, text) => {
    const only = { agents: [digest('petrel:1')], operators: [], observers: [], world };
    expect(aclText(aclOf(only, paths, paths.config))).toBe(`digest:petrel:cdrwa, ${text}`);
  });
});

describe('ACLs are alike', () => {
  const entry = (id: string, allowed: number): Acl => [{ permissions: allowed, identity: digest(id) }];
  const all = aclOf(access, paths, paths.config);

  it('in any order, and where the server hides the hashes', () => {
    expect(isAlike(all, all.toReversed())).toBe(true);
    expect(isAlike(entry('ops:x', 31), entry('ops:1', 31))).toBe(true);
  });

  it.each([
    ['others', entry('ops:1', 31), entry('eve:1', 31)],
    ['another password', entry('ops:1', 31), entry('ops:2', 31)],
    ['others where hashes are hidden', entry('ops:x', 31), entry('eve:1', 31)],
    ['other permissions', entry('ops:1', permissions.read), entry('ops:1', 31)],
    ['more', all, all.slice(1)],
    ['everybody', openAcl, all],
  ])('unless they name %s', (_, one, other) => {
    expect(isAlike(one, other)).toBe(false);
    expect(isAlike(other, one)).toBe(false);
  });
});
