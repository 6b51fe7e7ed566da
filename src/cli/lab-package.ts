/**
 * Loads the package `petrel-lab`, for `petrel lab` and parts of `petrel simulate`. Agents do not need the
 * package, so it is installed separately and loaded only by the commands that use it.
 */
import type { Command } from 'commander';
import { errorMessage, PetrelError } from '../errors.js';
import { version } from '../version.js';
import type { Wanted } from '../what-if/compared-strategies.js';
import type { Simulation } from '../what-if/simulation.js';
import type { Assumed, Situation } from '../what-if/situation.js';

/** Type of the package's default export. */
export interface LabPackage {
  /** Defines the arguments, options and action of `petrel lab`. */
  defineLab(lab: Command): void;
  /** Parses the description of a deployment. `of` names the file. Throws PetrelError INVALID. */
  describedSituation(of: string, text: string, assumed: Assumed): DescribedSituation;
  /** Returns an SVG chart of the latencies in a simulation. */
  plotOf(simulation: Simulation): string;
}

export interface DescribedSituation extends Pick<Wanted, 'own' | 'listed'> {
  readonly situation: Situation;
}

/**
 * The type is `string` on purpose. With a literal type, the compiler would need the package, which is
 * compiled after this one.
 */
const packageName: string = 'petrel-lab';

/**
 * Loads the package. `wantedBy` names the command or option that needs the package. Throws PetrelError
 * INVALID with a message that says how to install the package.
 */
export async function loadLab(wantedBy: string): Promise<LabPackage> {
  try {
    const loaded: { readonly default: LabPackage } = await import(packageName);
    return loaded.default;
  } catch (cause) {
    throw new PetrelError('INVALID', missingText(wantedBy, cause), { cause });
  }
}

function missingText(wantedBy: string, error: unknown): string {
  const install = `npm install ${packageName}@${version}`;
  if (isNotInstalled(error))
    return `${wantedBy} requires a package that is not installed. Install it: ${install}`;
  return `${wantedBy} cannot load ${packageName}: ${errorMessage(error)}. Install the version that matches petrel: ${install}`;
}

/** Whether the error says that the package itself is missing, rather than one of its dependencies. */
function isNotInstalled(error: unknown): boolean {
  return errorMessage(error).includes(`'${packageName}'`);
}
