import { describe, expect, it } from 'vitest';
import {
  type Constraint,
  type ConstraintContext,
  contextOf,
  type Finding,
  findingsOf,
  type IneligibleReason,
  ineligibleText,
  type Judged,
  judgeAll,
  ownIneligibleReasons,
  type Registered,
  type RemoteConstraint,
  stillOverridden,
} from '../../src/core/constraint.js';
import { nowhereElse } from '../../src/core/elsewhere.js';
import { config, decided, epoch0Ms, member, unreadable } from './builders.js';

const spare = { kind: 'spare', description: 'it is a spare', ends: 'planned', canBeForced: true } as const;
const isSpare: Finding = { strength: 'hard', reason: 'it is a spare' };

function context(change: Partial<ConstraintContext> = {}): ConstraintContext {
  const known = { config: config(), failures: [], nowMs: epoch0Ms, neighbour: null, elsewhere: nowhereElse };
  return { ...known, elected: new Set(), ...change };
}

function because(kind: string, change: Partial<IneligibleReason> = {}): IneligibleReason {
  return { kind, reason: `it is ${kind}`, ends: 'failure', canBeForced: true, ...change };
}

const busy = because('leads-slot', { reason: 'it leads slot 2', canBeForced: false, isOfPlace: true });

function judged(node: string, ...ineligibleReasons: IneligibleReason[]): Judged {
  return { member: member(node), ineligibleReasons, softReasons: [] };
}

describe('a constraint that checks all nodes in one call', () => {
  const malformed = { ...member('c1'), ...unreadable() };

  function judgeTogether() {
    const asked: (readonly Registered[])[] = [];
    const checkAll: RemoteConstraint['checkAll'] = (nodes) => {
      asked.push(nodes);
      return new Map([['b1', isSpare]]);
    };
    const found = judgeAll([malformed, member('b1'), member('a1')], [{ ...spare, checkAll }], context());
    return { asked, found };
  }

  it('is asked once, about every node with a readable registration, in order of their ids', () => {
    const expected = ['a1', 'b1'].map((node) => ({ node, registration: member(node).value }));
    expect(judgeTogether().asked).toEqual([expected]);
  });

  it('makes only those nodes ineligible that it names', () => {
    const [a1, b1] = judgeTogether().found;
    expect(a1?.ineligibleReasons).toEqual([]);
    expect(b1?.ineligibleReasons).toEqual([
      { kind: 'spare', reason: 'it is a spare', ends: 'planned', canBeForced: true },
    ]);
  });

  it('says nothing about a node whose registration cannot be read', () => {
    const reason = 'its registration is malformed: invalid JSON';
    expect(judgeTogether().found[2]).toEqual({
      member: malformed,
      ineligibleReasons: [{ kind: 'malformed', reason, ends: 'failure', canBeForced: true }],
      softReasons: [],
    });
  });
});

describe('a reason', () => {
  const reasonOf = (change: Partial<Constraint>) => {
    const constraint: Constraint = { ...spare, check: () => isSpare, ...change };
    return judgeAll([member('a1')], [constraint], context())[0]?.ineligibleReasons[0];
  };
  const reason = { kind: 'spare', reason: 'it is a spare', ends: 'planned', canBeForced: true };

  it('says that it is about placement only if its constraint is', () => {
    expect(reasonOf({ isOfPlace: true })).toStrictEqual({ ...reason, isOfPlace: true });
    expect(reasonOf({ isOfPlace: false })).toStrictEqual(reason);
    expect(reasonOf({})).toStrictEqual(reason);
  });

  it('that is about placement does not count against the node itself', () => {
    const ill = because('unhealthy');
    expect(ownIneligibleReasons(judged('a1', busy, ill))).toEqual([ill]);
  });
});

describe('the nodes that constraints see as elected', () => {
  it.each([
    ['a1', ['b1', 'a1']],
    [null, ['b1']],
  ])('are those of the other slots and this one: %s', (node, expected) => {
    const elsewhere = { ...nowhereElse, elected: ['b1'] };
    const { elected } = contextOf({
      ...context(),
      snapshot: {},
      epochMs: epoch0Ms,
      elsewhere,
      elected: { node },
    });
    expect(elected).toEqual(new Set(expected));
  });
});

describe('the findings about an elected node', () => {
  const ill = because('unhealthy');
  const leaving = because('leaving', { ends: 'shutdown' });

  it('are its own, and no other node’s', () => {
    const all = [judged('a1', leaving), judged('b1', ill)];
    expect(findingsOf(all, decided({ node: 'b1' }), false).againstElected).toEqual([ill]);
    expect(findingsOf(all, decided({ node: 'c1' }), false).againstElected).toEqual([]);
  });

  it('name the site where it is now as the failed one, or that of the decision if it is gone', () => {
    const all = [judged('a1'), judged('b1', ill)];
    const moved = decided({ node: 'b1', site: 'old' });
    expect(findingsOf(all, moved, true).failedSite).toBe('b');
    expect(findingsOf([judged('a1')], moved, true).failedSite).toBe('old');
  });

  it('leave out what a forced failover overrode, but for this node only', () => {
    const drained = because('drained', { ends: 'planned' });
    const requested = { by: 'ann', overridden: ['drained'] };
    const all = [judged('a1', drained), judged('b1', drained, ill)];
    const found = findingsOf(all, decided({ node: 'b1', requested }), false);
    expect(found.ineligible).toEqual([
      { node: 'a1', site: 'a', ineligibleReasons: [drained] },
      { node: 'b1', site: 'b', ineligibleReasons: [ill] },
    ]);
  });
});

it('what a forced failover overrode is kept while its node is not registered', () => {
  const requested = { by: 'ann', overridden: ['drained'] };
  expect(stillOverridden(decided({ node: 'b1', requested }), [judged('a1')])).toBe(requested);
});

it('a node that leads another slot is listed as that, whatever else makes it ineligible', () => {
  const ineligible = [
    { node: 'a1', site: 'a', ineligibleReasons: [because('unhealthy'), busy] },
    { node: 'b1', site: 'b', ineligibleReasons: [because('leaving'), because('drained')] },
  ];
  expect(ineligibleText(ineligible)).toBe('b1: it is leaving, it is drained; in other slots: a1');
});
