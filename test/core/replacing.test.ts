/** The replacement for a leader or a candidate that cannot continue, and the reason that operators read. */
import { describe, expect, it } from 'vitest';
import type { ChoiceInput } from '../../src/core/choice-input.js';
import { nowhereElse } from '../../src/core/elsewhere.js';
import type { Elected } from '../../src/model/znodes.js';
import { Bench } from './bench.js';
import {
  ask,
  byHand,
  claim,
  config,
  decided,
  epoch0Ms,
  failure,
  instant,
  member,
  members,
  unhealthy,
  unreadable,
} from './builders.js';

const sites = { a: { priority: 100 }, b: { priority: 50 }, c: { priority: 10 } };
const rankOf = { a: 'site a has priority 100', b: 'site b has priority 50', c: 'site c has priority 10' };
const nodeRank = ', the node has priority 100';
const c1Gone = 'instead of c1 (no longer registered): ';
const ledBefore = 'it led before the failed handover to c1; ';
const malformed = (node: string) => ({ ...member(node), ...unreadable() });

describe('after a planned change that failed before any node was READY', () => {
  const place = (node: string) => ({ node, site: node.slice(0, 1) });
  const wasRequested = { requested: true };
  const wasAutomatic = { requested: false };

  /** Elects after the crash of c1, which was to take over from `last`. */
  function returned(
    last: string,
    handover: Elected['handover'],
    change: Partial<ChoiceInput> & { node?: string | null } = {},
  ) {
    const { node = 'c1', ...rest } = change;
    return ask({
      members: members('a1', 'a2', 'b1'),
      config: config({ sites }),
      elected: decided({ node, term: 4, handover, previous: place(last) }),
      previous: place(last),
      ...rest,
    });
  }

  it('leadership returns to a node of a lower grade only if an operator requested the change', () => {
    expect(returned('b1', wasRequested)).toMatchObject({
      node: 'b1',
      cause: 'failure',
      reason: `${c1Gone}${ledBefore}${rankOf.b}${nodeRank}`,
    });
    expect(returned('b1', wasAutomatic)).toMatchObject({
      node: 'a1',
      reason: `${c1Gone}${rankOf.a}${nodeRank}`,
    });
    expect(returned('a2', wasAutomatic)).toMatchObject({
      node: 'a2',
      reason: `${c1Gone}${ledBefore}${rankOf.a}${nodeRank}`,
    });
  });

  it('leadership returns also after a decision to elect no node, which the reason does not name', () => {
    expect(returned('b1', wasRequested, { node: null }).reason).toBe(
      `it led before the failed handover; ${rankOf.b}${nodeRank}`,
    );
  });

  it('a previous leader that is the best node is elected for its rank', () => {
    expect(returned('a1', wasRequested).reason).toBe(`${c1Gone}${rankOf.a}${nodeRank}`);
  });

  it('a node that has been READY since the change is not the node to return to', () => {
    const choice = returned('b1', wasRequested, { node: 'b1', electedFailed: true });
    expect(choice).toMatchObject({
      node: 'a1',
      cause: 'failure',
      reason: `instead of b1 (failed): ${rankOf.a}${nodeRank}`,
    });
  });

  it('the rule that another site must follow a failure comes before the return', () => {
    const siteRules = { afterFailure: { from: 'another-site', strength: 'hard' } } as const;
    const choice = ask({
      members: members('a1', 'b1', 'b2'),
      config: config({ sites, siteRules }),
      elected: decided({ node: 'b1', term: 4, handover: wasRequested, previous: place('b2') }),
      previous: place('b2'),
      failures: [failure('b1')],
      electedFailed: true,
    });
    expect(choice).toMatchObject({ node: 'a1', cause: 'failure', failedSite: 'b' });
  });
});

describe('a candidate that failed and may be tried again', () => {
  it('is retried if it is the best node, and the reason says so', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.configure({ sites, paused: byHand });
    bench.claim();
    bench.settle();
    bench.fail();
    bench.settle();
    // The elector does not run until the backoff has ended and the group is resumed.
    bench.nowMs += 20_000;
    bench.configure({ sites });
    bench.settle();
    expect(bench.elected.value).toMatchObject({
      node: 'a1',
      term: 2,
      cause: 'retry',
      reason: `retry after its failure: ${rankOf.a}${nodeRank}`,
    });
  });
});

describe('a slot that was removed and added again', () => {
  it.each<[string, Partial<Elected>]>([
    ['before a node was elected in it', {}],
    [
      'and whose best node has failed before',
      { previous: { node: 'b1', site: 'b' }, failures: [failure('a1')] },
    ],
  ])('%s gets a leader as planned', (_, change) => {
    const elected = decided({ cause: 'planned', term: 4, ...change });
    const choice = ask({
      members: members('a1', 'b1'),
      config: config({ sites }),
      elected,
      failures: elected.failures.map((record) => ({ ...record, until: null })),
      elsewhere: { ...nowhereElse, isUntouched: false, name: 'slot 2' },
    });
    expect(choice).toMatchObject({
      node: 'a1',
      cause: 'planned',
      reason: `slot 2 was added again: ${rankOf.a}${nodeRank}`,
    });
  });
});

describe('a leader with a malformed registration and no alternative', () => {
  const replaced = (current: ChoiceInput['current']) =>
    ask({ members: [malformed('a1')], elected: decided({ node: 'a1', term: 4 }), current });

  it.each<[string, ChoiceInput['current']]>([
    ['whose claim is unreadable', { ...claim('a1'), ...unreadable() }],
    ['whose claim is another node’s', claim('b1')],
    ['that has no claim', null],
  ])('%s is replaced: it does not lead', (_, current) => {
    expect(replaced(current)).toMatchObject({
      node: null,
      cause: 'nobody',
      reason: 'no node is eligible: a1: its registration is malformed: invalid JSON',
    });
  });
});

describe('every node in backoff', () => {
  const later = { epochMs: epoch0Ms + 10_000, elected: decided({ term: 4 }) };
  const inBackoff = (node: string, failedMs: number) =>
    failure(node, { failedAt: instant(failedMs), until: instant(60_000) });

  it('stays if an operator overrode the malformed registration', () => {
    const requested = { by: 'ops', overridden: ['malformed'] };
    const elected = decided({ node: 'a1', term: 4, requested });
    const choice = ask({ members: [malformed('a1')], elected, current: claim('a1') });
    expect(choice).toMatchObject({ node: 'a1', changes: false });
  });

  it('says why a node is retried', () => {
    const choice = ask({ ...later, members: members('a1'), failures: [inBackoff('a1', 0)] });
    expect(choice).toMatchObject({
      node: 'a1',
      cause: 'retry',
      reason:
        'every eligible node has failed, and this one failed longest ago (takeover failed: exit code 1)',
    });
  });

  it('retries no node of the failed site if another site must follow, even if it failed longest ago', () => {
    const siteRules = { afterFailure: { from: 'another-site', strength: 'hard' } } as const;
    const elected = decided({ term: 4, failedSite: 'a', previous: { node: 'a1', site: 'a' } });
    const failures = [inBackoff('a1', -9_000), inBackoff('b1', 0)];
    const question = { ...later, config: config({ siteRules }), elected, failures };
    expect(ask({ ...question, members: members('a1', 'b1') })).toMatchObject({ node: 'b1', failedSite: 'a' });
    expect(ask({ ...question, members: members('a1') })).toMatchObject({ node: null, failedSite: 'a' });
  });
});

describe('a paused group', () => {
  const elected = decided({ node: 'b1', term: 4, requested: { by: 'ops', overridden: ['unhealthy'] } });
  const retry = (failures: ChoiceInput['failures']) =>
    ask({
      members: [member('a1'), member('b1', unhealthy)],
      config: config({ paused: byHand }),
      elected,
      electedFailed: true,
      failures,
    });

  it('waits for the backoff of its own candidate, and for no other', () => {
    const over = { until: null };
    expect(retry([failure('a1', over), failure('b1')]).changes).toBe(false);
    expect(retry([failure('b1', over), failure('a1')]).changes).toBe(true);
  });

  it('retries under the earlier request, and carries out no new one', () => {
    const choice = retry([failure('b1', { until: null })]);
    expect(choice.requested).toEqual({ by: 'ops', overridden: ['unhealthy'] });
    expect(choice.isReturn).toBe(true);
  });
});

describe('a leader whose priorities at its election are unknown', () => {
  it('is not replaced at once by a better node: no priority is known to have fallen', () => {
    const choice = ask({
      members: members('a1', 'b1'),
      config: config({ sites, failback: 'manual' }),
      elected: decided({ node: 'b1', term: 4, priorities: null }),
    });
    expect(choice).toMatchObject({
      node: 'b1',
      changes: false,
      reason: `${rankOf.b}${nodeRank}; a1 would be better (${rankOf.a}${nodeRank}), but failback is manual`,
    });
  });
});
