/** Turns a deployment file into the input for `petrel simulate`. */
import { type Assumed, type DescribedSituation, loadOf, lostNodes, sizeOf } from 'petrel/internals';
import { describedAtMs, describedGroup } from './described-group.js';
import { readDeployment } from './read-deployment.js';
import { asymmetries } from './round-trips.js';

/**
 * Reads the deployment text. `of` is the name of its file, for error messages. Throws PetrelError INVALID if
 * the text cannot be read, or if a lost node or site does not exist.
 */
export function describedSituation(of: string, text: string, { lose, size }: Assumed): DescribedSituation {
  const deployment = readDeployment(of, text);
  const { strategy, strategyOptions, strategies } = deployment;
  const places = Object.entries(deployment.nodes).map(([node, { site }]) => ({ node, site }));
  const lost = lostNodes([...deployment.lose, ...lose], places, '--lose');
  const situation = {
    of,
    view: describedGroup(deployment, lost),
    nowMs: describedAtMs,
    lost,
    size: sizeOf(size, strategyOptions, places.length),
    load: loadOf(strategyOptions),
    notes: asymmetries(deployment),
  };
  return { situation, own: { strategy, strategyOptions }, listed: strategies };
}
