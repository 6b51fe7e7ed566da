import { expect, it } from 'vitest';
import { precedesLeader } from '../../src/agent/elector/commit.js';
import { decided, group, members, versioned } from '../core/builders.js';

it('A10 a decision waits for the node that led before the tree was deleted, until it has registered', () => {
  const remade = group({ elected: versioned(decided({ node: 'b1', term: 2 }), 0) });
  const decisions = [{ slot: 1, electedVersion: 0, elected: decided({ node: 'a1', term: 3 }) }];
  expect(precedesLeader({ snapshot: remade, members: members('a1') }, { decisions })).toBe(true);
  expect(precedesLeader({ snapshot: remade, members: members('a1', 'b1') }, { decisions })).toBe(false);
  const usual = group({ elected: versioned(decided({ node: 'b1', term: 2 }), 1) });
  expect(precedesLeader({ snapshot: usual, members: members('a1') }, { decisions })).toBe(false);
  expect(precedesLeader({ snapshot: group(), members: members('a1') }, { decisions })).toBe(false);
});
