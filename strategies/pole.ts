import * as z from 'zod';
import { strictObject } from '../src/model/names.js';
import type { Candidate, Strategy } from '../src/model/strategy.js';
import { type Criterion, rankBy } from './criteria.js';
import { type Computed, computed, reported } from './readings.js';
import {
  marginOption,
  ownMarginOption,
  scoreNameOption,
  sizeOption,
  usualLoad,
  widthOption,
} from './score-options.js';
import { type Survey, survey } from './survey.js';

const computedNames: readonly string[] = Object.keys(computed);
const scoresRule =
  'expected a list of scores, the most important first, such as [{score: latency, width: 10}, history]';

const entry = strictObject({
  /** The score to compare: `latency`, `consensus`, `worst-case`, or the name of a score that nodes report. */
  score: scoreNameOption,
  better: z.enum(['higher', 'lower'], 'expected higher or lower').optional(),
  width: widthOption,
  margin: ownMarginOption,
}).refine(({ score, better }) => better !== 'higher' || !computedNames.includes(score), {
  error: `expected lower: for ${computedNames.join(', ')}, a lower value is always better`,
  path: ['better'],
});

const options = strictObject({
  scores: z
    .array(z.preprocess(spelledOut, entry), scoresRule)
    .min(1, scoresRule)
    .refine(
      (scores) => new Set(scores.map(({ score }) => score)).size === scores.length,
      'a score is listed twice',
    ),
  size: sizeOption,
  load: scoreNameOption.default(usualLoad),
  margin: marginOption,
});
type Options = z.infer<typeof options>;

/** Returns the entry for a bare score name, without further options. Returns any other input unchanged. */
function spelledOut(input: unknown): unknown {
  return typeof input === 'string' ? { score: input } : input;
}

/**
 * Ranks nodes by several scores in order of priority. The values of each score are divided into classes. An
 * example is "the node with the longest log among the fastest nodes". Becker et al. (2011) call this
 * co-optimisation.
 */
export const pole: Strategy<Options> = {
  name: 'pole',
  description:
    'the best node by the scores listed in option `scores`, compared in order; values in the same class count as equal',
  usesScores: true,
  options,
  rank: (input) => {
    const { scores, size, load } = input.options;
    const isComputed = scores.some(({ score }) => computedNames.includes(score));
    const surveys = isComputed ? survey(input, { size, load }) : new Map<string, Survey>();
    return rankBy(
      input,
      scores.map((one) => criterion(one, input.candidates, surveys, input.options)),
    );
  },
};

function criterion(
  { score, better, width, margin }: Options['scores'][number],
  candidates: readonly Candidate[],
  surveys: ReadonlyMap<string, Survey>,
  shared: Options,
): Criterion {
  const rest = { width, margin: margin ?? shared.margin };
  if (isComputedName(score)) {
    return { ...rest, readings: computed[score](surveys), better: 'lower', unit: ' ms' };
  }
  return { ...rest, readings: reported(candidates, score), better: better ?? 'higher', unit: '' };
}

function isComputedName(name: string): name is Computed {
  return computedNames.includes(name);
}
