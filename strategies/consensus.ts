import type * as z from 'zod';
import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';
import { rankBy } from './criteria.js';
import { computed } from './readings.js';
import { marginOption, sizeOption, usualLoad, widthOption } from './score-options.js';
import { survey } from './survey.js';

const options = strictObject({ size: sizeOption, width: widthOption, margin: marginOption });

/**
 * Selects the node that a quorum answers fastest: θc of Becker et al. (2011). The score is the round-trip
 * time to the slowest node of the fastest majority. The node's round-trip time to itself counts as 0.
 */
export const consensus: Strategy<z.infer<typeof options>> = {
  name: 'consensus',
  description: 'the node with the fastest quorum: the shortest time until a majority of the group answers',
  usesScores: true,
  options,
  rank: (input) => {
    const { size, width, margin } = input.options;
    const readings = computed.consensus(survey(input, { size, load: usualLoad }));
    return rankBy(input, [{ readings, better: 'lower', width, margin, unit: ' ms' }]);
  },
};
