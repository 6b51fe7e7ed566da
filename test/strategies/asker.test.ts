/**
 * Ranking by a strategy that runs in another place. It is queried between two ranking attempts, and no
 * attempt waits for its answer.
 */
import { describe, expect, it } from 'vitest';
import { findingsOf } from '../../src/core/constraint.js';
import { RuleFault, rank } from '../../src/core/ranking.js';
import { initialElected } from '../../src/model/znodes.js';
import { answered, RuleAsker } from '../../src/own-strategies/asker.js';
import { builtInRules } from '../../strategies/index.js';
import {
  type Answer,
  answerTo,
  keyOf,
  type RankingInput,
  type StrategyQuestion,
  Unanswered,
} from '../../strategies/questions.js';
import type { RegisteredStrategy, Rules } from '../../strategies/registry.js';
import { config, ordinary } from '../core/builders.js';

/** Returns a strategy whose questions `answer` answers, and the list of questions that it received. */
function elsewhere(answer: (question: StrategyQuestion) => Answer) {
  const queries: StrategyQuestion[] = [];
  const strategy: RegisteredStrategy = {
    ...{ name: 'far', description: 'runs elsewhere', usesScores: () => false },
    prepare(options, { answers }) {
      answerTo({ strategy: 'far', options, input: null }, answers);
      const ask = (input: RankingInput) => {
        const given = answerTo({ strategy: 'far', options, input }, answers);
        if ('ranking' in given) return given.ranking;
        throw new Error('failure' in given ? given.failure : 'no ranking');
      };
      return { strategy: { name: 'far', rank: ask }, problems: null };
    },
    async ask(question) {
      queries.push(question);
      return answer(question);
    },
  };
  return { rules: { ...builtInRules, strategies: new Map([['far', strategy]]) }, queries };
}

const nobody: RankingInput = {
  ...{ candidates: [], peers: [], previous: null, incumbent: null },
  ...{ term: 1, conditions: ordinary },
};

function rankedBy(rules: Rules, term: number) {
  return rules.strategies
    .get('far')
    ?.prepare({}, rules)
    .strategy?.rank({ ...nobody, term });
}

const fine = ({ input }: StrategyQuestion): Answer => (input === null ? { problems: [] } : { ranking: [] });

describe('a strategy that runs elsewhere', () => {
  it('is queried for what is missing, and for nothing twice while its answers are kept', async () => {
    const { rules, queries } = elsewhere(fine);
    const asker = new RuleAsker(rules);
    for (const term of [1, 1, 2, 1]) {
      expect(await asker.answered((known) => rankedBy(known, term))).toEqual([]);
    }
    expect(queries.map(({ input }) => input?.term ?? null)).toEqual([null, 1, 2]);
  });

  it('is queried again where it failed', async () => {
    let fails = true;
    const { rules, queries } = elsewhere((question) =>
      fails && question.input !== null ? { failure: 'it did not answer' } : fine(question),
    );
    const asker = new RuleAsker(rules);
    const once = () => asker.answered((known) => rankedBy(known, 1));
    await expect(once()).rejects.toThrow('it did not answer');
    fails = false;
    expect(await once()).toEqual([]);
    expect(queries.map(({ input }) => input?.term ?? null)).toEqual([null, 1, 1]);
  });

  it('is no fault while its answer is pending, and its own fault where it failed', async () => {
    const { rules } = elsewhere(({ input }) => (input === null ? { problems: [] } : { failure: 'it hangs' }));
    const known = { ...rules, answers: new Map([[keyOf(checked), fine(checked)]]) };
    expect(() => ranking(known)).toThrow(Unanswered);
    await expect(answered(rules, ranking)).rejects.toThrow(RuleFault);
    await expect(answered(rules, ranking)).rejects.toThrow('strategy far failed: Error: it hangs');
  });

  it('that cannot be queried here fails, and is not queried for ever', async () => {
    const asks = () => {
      throw new Unanswered(checked);
    };
    await expect(answered({ ...builtInRules, strategies: new Map() }, asks)).rejects.toThrow(
      'the rule failed',
    );
  });

  it('has one key for equal questions, whatever they measure', () => {
    const question = (score: number | bigint) => {
      const peers = [{ node: 'a', site: 'a', scores: new Map([['s', score]]), roundTripsMs: new Map() }];
      return keyOf({ ...checked, input: { ...nobody, peers } });
    };
    expect(question(1)).toBe(question(1));
    expect(new Set([question(1), question(2), question(1n)]).size).toBe(3);
  });
});

const checked: StrategyQuestion = { strategy: 'far', options: {}, input: null };

/** Returns a function that ranks as the core does. */
function ranking(rules: Rules) {
  const strategy = rules.strategies.get('far')?.prepare({}, rules).strategy;
  if (strategy == null) throw new Error('it is not ready');
  const group = {
    config: config({}),
    judged: [],
    request: null,
    previous: null,
    elected: initialElected,
    epochMs: 0,
  };
  return rank({ ...group, strategy, ...findingsOf([], initialElected, false) });
}
