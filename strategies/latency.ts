import type * as z from 'zod';
import { strictObject } from '../src/model/names.js';
import type { Strategy } from '../src/model/strategy.js';
import { rankBy } from './criteria.js';
import { computed } from './readings.js';
import { marginOption, scoreNameOption, sizeOption, usualLoad, widthOption } from './score-options.js';
import { survey } from './survey.js';

const options = strictObject({
  size: sizeOption,
  load: scoreNameOption.default(usualLoad),
  width: widthOption,
  margin: marginOption,
});

/**
 * Selects the node that answers requests fastest on average: θl of Becker et al. (2011). The score is the
 * time until a quorum answers, plus the mean round-trip time to the clients. The mean is weighted by the
 * share of requests from each client's node.
 */
export const latency: Strategy<z.infer<typeof options>> = {
  name: 'latency',
  description: 'the node with the lowest average latency for clients',
  usesScores: true,
  options,
  rank: (input) => {
    const { size, load, width, margin } = input.options;
    const readings = computed.latency(survey(input, { size, load }));
    return rankBy(input, [{ readings, better: 'lower', width, margin, unit: ' ms' }]);
  },
};
