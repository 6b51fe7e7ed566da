import { describe, expect, it } from 'vitest';
import { contextOf } from '../../src/core/constraint.js';
import { nowhereElse } from '../../src/core/elsewhere.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import { affinity } from '../../strategies/constraints/affinity.js';
import { ask, config, decided, epoch0Ms, members, registration } from './builders.js';

const root = '/services/db';
type Where = GroupConfig['affinity']['where'];

/**
 * Elects one of a1, a2 and b1. In the other group `leader` is READY, and in this group `present` is elected.
 */
function elects(
  where: Where,
  leader: string | null,
  present: string | null = null,
  { strength = 'hard', goesFirst = false } = {},
) {
  const settings = config({
    sites: { a: { priority: 200 } },
    failback: 'manual',
    affinity: { group: root, where, strength: strength === 'hard' ? 'hard' : 'soft' },
  });
  const elected = decided({ node: present, term: 1 });
  const place = leader === null ? null : { node: leader, site: leader.slice(0, 1) };
  const neighbour = { root, leader: place, goesFirst };
  return ask({ members: members('a1', 'a2', 'b1'), config: settings, elected, neighbour });
}

describe('a group that has an affinity with another', () => {
  it.each<[Where, string, string]>([
    ['same-node', 'a2', 'a2'],
    ['same-site', 'b1', 'b1'],
    ['another-node', 'a1', 'a2'],
    ['another-site', 'a1', 'b1'],
  ])('%s as %s: elects %s', (where, leader, node) => {
    expect(elects(where, leader)).toMatchObject({ node, cause: 'first' });
  });

  it('follows when the other has moved, as planned, whatever the failback policy says', () => {
    const choice = elects('same-node', 'b1', 'a1');
    expect(choice).toMatchObject({ node: 'b1', changes: true, cause: 'planned' });
    expect(choice.reason).toContain(
      'the leader must be on the same node as the leader of /services/db, which is b1 in site b',
    );
  });

  it('stays where it is while no node is READY there, and then elects no other node', () => {
    expect(elects('same-node', null, 'a1')).toMatchObject({ node: 'a1', changes: false });
    const choice = elects('same-site', null);
    expect(choice).toMatchObject({ node: null, cause: 'nobody' });
    expect(choice.reason).toContain('as the leader of /services/db, but /services/db has no READY leader');
  });

  it('that is to keep away has nobody to keep away from while nobody is READY there', () => {
    expect(elects('another-node', null)).toMatchObject({ node: 'a1' });
  });

  it('that is the first of a circle keeps its leader, wherever that is, and elects as the rule has it', () => {
    const first = { goesFirst: true };
    expect(elects('another-node', 'a1', 'a1', first)).toMatchObject({ node: 'a1', changes: false });
    expect(elects('same-node', 'b1', 'a1', first)).toMatchObject({ node: 'a1', changes: false });
    expect(elects('another-node', 'a1', null, first)).toMatchObject({ node: 'a2' });
  });

  it('keeps the leaders of all its slots while nobody is READY there', () => {
    const settings = config({ affinity: { group: root, where: 'same-site' } });
    const neighbour = { root, leader: null, goesFirst: false };
    const elsewhere = { ...nowhereElse, elected: ['a2'] };
    const elected = decided({ node: 'a1', term: 1 });
    const known = { config: settings, failures: [], epochMs: epoch0Ms, elsewhere, elected };
    const against = members('a1', 'a2', 'b1').map(
      ({ node }) =>
        affinity.check(
          { node, registration: registration(node) },
          contextOf({ ...known, snapshot: { neighbour } }),
        ) !== null,
    );
    expect(against).toEqual([false, false, true]);
  });

  it('soft: is elsewhere where it cannot be, and says so', () => {
    const choice = elects('same-node', 'c1', null, { strength: 'soft' });
    expect(choice).toMatchObject({ node: 'a1' });
    expect(choice.reason).toContain(
      ', but the leader must be on the same node as the leader of /services/db',
    );
    expect(elects('same-node', 'b1', null, { strength: 'soft' })).toMatchObject({ node: 'b1' });
  });
});
