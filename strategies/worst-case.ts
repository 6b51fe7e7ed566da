import type * as z from 'zod';
import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';
import { rankBy } from './criteria.js';
import { computed } from './readings.js';
import { marginOption, sizeOption, usualLoad, widthOption } from './score-options.js';
import { survey } from './survey.js';

const options = strictObject({ size: sizeOption, width: widthOption, margin: marginOption });

/**
 * Selects the node that answers the farthest client fastest: θw of Becker et al. (2011). The score is the
 * time until a quorum answers, plus the round-trip time to the farthest node.
 */
export const worstCase: Strategy<z.infer<typeof options>> = {
  name: 'worst-case',
  description: 'the node with the lowest latency for the farthest client',
  usesScores: true,
  options,
  rank: (input) => {
    const { size, width, margin } = input.options;
    const readings = computed['worst-case'](survey(input, { size, load: usualLoad }));
    return rankBy(input, [{ readings, better: 'lower', width, margin, unit: ' ms' }]);
  },
};
