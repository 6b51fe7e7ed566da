/** The work of a thread that runs a user-defined strategy. */
import { isDeepStrictEqual } from 'node:util';
import type { Ranked, Strategy } from '../../strategies/index.js';
import type { Answer, RankingInput } from '../../strategies/questions.js';
import { rankingSchema } from '../core/ranking.js';
import { describeIssues } from '../model/names.js';
import { frozen } from './frozen.js';
import { type StrategyRequest, strategyQuestionSchema } from './messages.js';
import { samples } from './samples.js';
import { withoutSideEffects } from './side-effects.js';
import type { Work } from './work.js';

interface OwnStrategy extends Strategy {
  readonly version?: unknown;
}

/**
 * Returns the work for a module whose default export is `found`. Throws an Error if `found` is not a
 * strategy.
 */
export function strategyWork(found: unknown): Work {
  if (!isStrategy(found)) {
    throw new Error(
      'the default export is not a strategy: expected name, description, options (a zod schema) and a function rank',
    );
  }
  const { name, description, version = null, usesScores = false } = found;
  return {
    introduction: { name, description, version, usesScores },
    answerTo: (question) => answerTo(found, strategyQuestionSchema.parse(question)),
  };
}

function isStrategy(value: unknown): value is OwnStrategy {
  if (typeof value !== 'object' || value === null) return false;
  if (!('name' in value && 'description' in value && 'options' in value && 'rank' in value)) return false;
  const { options, rank } = value;
  const isSchema = typeof options === 'object' && options !== null && 'safeParse' in options;
  return isSchema && typeof options.safeParse === 'function' && typeof rank === 'function';
}

function answerTo(strategy: OwnStrategy, request: StrategyRequest): Answer {
  const read = strategy.options.safeParse(request.options);
  if (!read.success) {
    const issues = read.error.issues.map(({ path, message }) => ({ path: path.map(String), message }));
    return { problems: issues };
  }
  if (request.input === null) return { problems: impurities(strategy, read.data) };
  return { ranking: ranked(strategy, request.input, read.data) };
}

function ranked(strategy: OwnStrategy, input: RankingInput, options: unknown): Ranked[] {
  const answer: unknown = withoutSideEffects('strategy', () => strategy.rank({ ...input, options }));
  if (answer instanceof Promise) {
    throw new Error('rank returned a promise: it must be a plain function, not an async function');
  }
  const { length } = input.candidates;
  // Check the length before anything else, because the answer may be of any size.
  if (Array.isArray(answer) && answer.length > length) {
    throw new Error(`rank received ${length} nodes but returned ${answer.length}`);
  }
  const ranking = rankingSchema.safeParse(answer);
  if (!ranking.success) throw new Error(describeIssues(ranking.error).join('; '));
  return ranking.data;
}

/** Runs the strategy twice on the same frozen input, and returns the problems that this reveals. */
function impurities(strategy: OwnStrategy, options: unknown): { path: string[]; message: string }[] {
  for (const sample of samples) {
    const [first, again] = [1, 2].map(() => ranked(strategy, frozen(sample), options));
    if (isDeepStrictEqual(first, again)) continue;
    return [{ path: [], message: 'rank returns different results for the same input' }];
  }
  return [];
}
