import type * as z from 'zod';
import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';
import { rankBy } from './criteria.js';
import { reported } from './readings.js';
import { marginOption, scoreNameOption, widthOption } from './score-options.js';

/**
 * Returns a strategy that compares nodes by one score that they report. A higher score is better. The score
 * is `usual` unless the option `score` names a different one.
 */
export function byReport(name: string, description: string, usual: string) {
  const options = strictObject({
    score: scoreNameOption.default(usual),
    width: widthOption,
    margin: marginOption,
  });
  const strategy: Strategy<z.infer<typeof options>> = {
    name,
    description,
    usesScores: true,
    options,
    rank: (input) => {
      const { score, width, margin } = input.options;
      const readings = reported(input.candidates, score);
      return rankBy(input, [{ readings, better: 'higher', width, margin, unit: '' }]);
    },
  };
  return strategy;
}
