/** Simulations of deployments that a test gives as values or as the content of a file. */

import { stringify } from 'yaml';
import { describedSituation } from '../../packages/lab/src/planning/described-situation.js';
import { comparedStrategies, type Wanted } from '../../src/what-if/compared-strategies.js';
import { type Simulation, simulate } from '../../src/what-if/simulation.js';
import type { Assumed } from '../../src/what-if/situation.js';
import { builtInRules } from '../../strategies/index.js';

export type Asking = Partial<Assumed & Pick<Wanted, 'names' | 'options'>>;

/** Throws a PetrelError INVALID if the text or the requested strategies are invalid. */
export function askOf(text: string, asking: Asking = {}): Simulation {
  const { lose = [], size, names = [], options = null } = asking;
  const { situation, ...wanted } = describedSituation('file', text, { lose, size });
  return simulate(situation, comparedStrategies({ ...wanted, names, options }, situation.size, builtInRules));
}

export function ask(deployment: unknown, asking: Asking = {}): Simulation {
  return askOf(stringify(deployment), asking);
}
