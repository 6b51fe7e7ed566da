import type { z } from 'zod';
import { strictObject } from '../src/core/names.js';
import type { Strategy } from '../src/core/strategy.js';
import { rankBy } from './criteria.js';
import { reported } from './readings.js';
import { marginOption, scoreNameOption, usualHistory, widthOption } from './score-options.js';

const options = strictObject({
  score: scoreNameOption.default(usualHistory),
  width: widthOption,
  margin: marginOption,
});

/** The node whose log has come farthest: θz of Becker et al. (2011). Positions of 64 bits are compared exactly. */
export const history: Strategy<z.infer<typeof options>> = {
  name: 'history',
  description: 'the node whose log reaches farthest, as it reports in score `history`',
  usesScores: true,
  options,
  rank: (input) => {
    const { score, width, margin } = input.options;
    const readings = reported(input.candidates, score);
    return rankBy(input, [{ readings, better: 'higher', width, margin, unit: '' }]);
  },
};
