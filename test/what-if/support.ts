/** What-ifs about deployments as values, as their files would hold them. */
import { stringify } from 'yaml';
import { askedStrategies, type Wanted } from '../../src/what-if/asked-strategies.js';
import { readDeployment } from '../../src/what-if/read-deployment.js';
import { type Simulation, simulate } from '../../src/what-if/simulation.js';
import { type Assumed, describedSituation } from '../../src/what-if/situation.js';

export type Asking = Partial<Assumed & Pick<Wanted, 'names' | 'options'>>;

/** Throws PetrelError INVALID. */
export function askOf(text: string, asking: Asking = {}): Simulation {
  const { lose = [], size, names = [], options = null } = asking;
  const deployment = readDeployment('file', text);
  const situation = describedSituation('file', deployment, { lose, size });
  const { strategy, strategyOptions, strategies: listed } = deployment;
  const own = { strategy, strategyOptions };
  return simulate(situation, askedStrategies({ own, listed, names, options }, situation.size));
}

export function ask(deployment: unknown, asking: Asking = {}): Simulation {
  return askOf(stringify(deployment), asking);
}
