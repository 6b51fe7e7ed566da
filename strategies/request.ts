import type { z } from 'zod';
import { strictObject } from '../src/core/names.js';
import type { Strategy } from '../src/core/strategy.js';
import { rankBy } from './criteria.js';
import { reported } from './readings.js';
import { marginOption, scoreNameOption, usualLoad, widthOption } from './score-options.js';

const options = strictObject({
  score: scoreNameOption.default(usualLoad),
  width: widthOption,
  margin: marginOption,
});

/** The node that most requests come to, on average over time: θr of Becker et al. (2011). */
export const request: Strategy<z.infer<typeof options>> = {
  name: 'request',
  description: 'the node that most requests of clients come to, as it reports in score `requests`',
  usesScores: true,
  options,
  rank: (input) => {
    const { score, width, margin } = input.options;
    const readings = reported(input.candidates, score);
    return rankBy(input, [{ readings, better: 'higher', width, margin, unit: '' }]);
  },
};
