/** The question to a strategy, and the use of its answer. */
import { describe, expect, it } from 'vitest';
import type { ChoiceInput } from '../../src/core/choice-input.js';
import { nowhereElse } from '../../src/core/elsewhere.js';
import { candidateOf, RuleFault } from '../../src/core/ranking.js';
import type { Conditions, Ranked, StrategyInput } from '../../src/model/strategy.js';
import type { ReadyStrategy } from '../../strategies/index.js';
import {
  ask,
  byHand,
  config,
  decided,
  epoch0Ms,
  member,
  members,
  ordinary,
  unhealthy,
  unreadable,
} from './builders.js';

const inOrder = ({ candidates }: Pick<StrategyInput<unknown>, 'candidates'>): Ranked[] =>
  candidates.map(({ node }, grade) => ({ node, grade, reason: `number ${grade + 1}` }));
const malformed = { ...member('c1'), ...unreadable() };

/** Returns what a strategy is asked in an election. */
function questionIn(change: Partial<ChoiceInput> = {}): Parameters<ReadyStrategy['rank']>[0] {
  const questions: Parameters<ReadyStrategy['rank']>[0][] = [];
  const strategy: ReadyStrategy = {
    name: 'plug-in',
    rank: (question) => {
      questions.push(question);
      return inOrder(question);
    },
  };
  ask({ members: members('a1', 'b1'), strategy, ...change });
  const [question] = questions;
  if (question === undefined) throw new Error('the strategy was not asked');
  return question;
}

describe('the conditions of a decision', () => {
  const conditions = (change: Partial<ChoiceInput>): Conditions => questionIn(change).conditions;
  const afterFailure = { after: 'failure', failedSite: 'a' };
  const planned = { after: 'planned', failedSite: null };
  const pending = config({ switchover: { to: { node: 'b1' }, replacesTerm: 4, ...byHand } });

  it('are those after a failure while the successor of a failed leader is not found', () => {
    const elected = decided({ term: 4, failedSite: 'a' });
    expect(conditions({ elected })).toMatchObject(afterFailure);
    expect(conditions({ elected: decided({ node: 'a1' }), electedFailed: true })).toMatchObject(afterFailure);
  });

  it('are those of a planned decision if an operator requested a switchover', () => {
    const elected = decided({ term: 4, failedSite: 'a' });
    expect(conditions({ elected, config: pending })).toMatchObject(planned);
  });

  it('are those of its own election while a leader can continue', () => {
    expect(conditions({ elected: decided({ node: 'b1', term: 4 }) })).toMatchObject(planned);
    expect(conditions({ elected: decided({ node: 'b1', term: 4, failedSite: 'a' }) })).toMatchObject(
      afterFailure,
    );
  });

  it('count a node as eligible if only its placement speaks against it', () => {
    const elsewhere = { ...nowhereElse, busy: new Map([['b1', 'it leads slot 2']]) };
    const present = [...members('a1', 'b1'), member('d1', unhealthy)];
    expect(conditions({ members: present, elsewhere })).toEqual({ ...ordinary, registered: 3, eligible: 2 });
  });
});

describe('a node with a malformed registration', () => {
  it('counts as registered, but a strategy does not see it', () => {
    const { candidates, peers, conditions } = questionIn({ members: [...members('a1'), malformed] });
    expect(candidates.map(({ node }) => node)).toEqual(['a1']);
    expect(peers.map(({ node }) => node)).toEqual(['a1']);
    expect(conditions).toMatchObject({ registered: 2, eligible: 1 });
  });

  it('is no candidate', () => {
    expect(candidateOf(malformed, { config: config(), epochMs: epoch0Ms })).toEqual([]);
  });
});

describe('soft constraints', () => {
  const failed = { byRule: true, ...byHand };
  const settings = config({
    sites: { a: { failed } },
    siteRules: { only: { sites: ['b', 'd'], strength: 'soft' }, failed: { strength: 'soft' } },
  });
  const strategy: ReadyStrategy = { name: 'plug-in', rank: inOrder };

  it('move nodes behind all others in the same order, and the reasons name each constraint', () => {
    const notAllowed = (site: string) => `site ${site} may not lead: the site rule “only” allows b, d`;
    const nodes = members('a1', 'b1', 'c1', 'd1');
    expect(ask({ members: nodes, config: settings, strategy }).ranking).toEqual([
      { node: 'b1', grade: 1, reason: 'number 2' },
      { node: 'd1', grade: 3, reason: 'number 4' },
      {
        node: 'a1',
        grade: 4,
        reason: `number 1, but ${notAllowed('a')}, site a was marked failed by ops: maintenance`,
      },
      { node: 'c1', grade: 6, reason: `number 3, but ${notAllowed('c')}` },
    ]);
  });

  it('move nodes behind all others also if a strategy gives grades below 0', () => {
    const negative: ReadyStrategy = {
      name: 'plug-in',
      rank: (question) => inOrder(question).map((entry) => ({ ...entry, grade: entry.grade - 10 })),
    };
    const elected = decided({ node: 'b1', term: 4 });
    const choice = ask({ members: members('a1', 'b1'), config: settings, strategy: negative, elected });
    expect(choice).toMatchObject({ node: 'b1', changes: false, reason: 'number 2' });
    expect(choice.ranking).toMatchObject([
      { node: 'b1', grade: -9 },
      { node: 'a1', grade: -8 },
    ]);
  });

  it('change nothing in a ranking of other nodes', () => {
    const choice = ask({ members: members('b1', 'd1'), config: settings, strategy });
    expect(choice.ranking).toEqual([
      { node: 'b1', grade: 0, reason: 'number 1' },
      { node: 'd1', grade: 1, reason: 'number 2' },
    ]);
  });
});

describe('a faulty strategy', () => {
  const faultOf = (rank: ReadyStrategy['rank']): unknown => {
    try {
      ask({ members: members('a1', 'b1'), strategy: { name: 'plug-in', rank } });
    } catch (error) {
      return error;
    }
    return null;
  };

  it('ends the election with a RuleFault that keeps the strategy’s own error', () => {
    const cause = new Error('no network');
    const fault = faultOf(() => {
      throw cause;
    });
    expect(fault).toBeInstanceOf(RuleFault);
    expect(fault).toMatchObject({
      name: 'RuleFault',
      message: 'strategy plug-in failed: Error: no network',
      cause,
    });
  });

  it('is reported with every fault in its answer', () => {
    const fault = faultOf((question) => inOrder(question).map((entry) => ({ ...entry, grade: Number.NaN })));
    expect(fault).toMatchObject({
      message:
        'strategy plug-in broke its contract: 0.grade: expected a number, found NaN; ' +
        '1.grade: expected a number, found NaN',
    });
  });
});
