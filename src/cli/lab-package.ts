/**
 * Loads the package `petrel-lab`, for `petrel lab` and the planning of `petrel simulate`. An agent does not
 * need it, so it is installed separately and loaded only by commands that need it.
 */
import type { Command } from 'commander';
import { errorMessage, PetrelError } from '../errors.js';
import { version } from '../version.js';
import type { Wanted } from '../what-if/asked-strategies.js';
import type { Simulation } from '../what-if/simulation.js';
import type { Assumed, Situation } from '../what-if/situation.js';

/** The default export of the package. */
export interface LabPackage {
  /** Defines the arguments, options and action of `petrel lab`. */
  defineLab(lab: Command): void;
  /** Reads the description of a deployment. `of` names the file. Throws PetrelError INVALID. */
  describedSituation(of: string, text: string, assumed: Assumed): DescribedSituation;
  /** Returns the latencies of a simulation as SVG. */
  plotOf(simulation: Simulation): string;
}

export interface DescribedSituation extends Pick<Wanted, 'own' | 'listed'> {
  readonly situation: Situation;
}

/** Not a literal: with a literal, the compiler would need a package that is compiled after this one. */
const packageName: string = 'petrel-lab';

/** Throws PetrelError INVALID, which says how to install it. `wantedBy`: what needs the package. */
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

/** Whether the package itself is missing, rather than one of its dependencies. */
function isNotInstalled(error: unknown): boolean {
  return errorMessage(error).includes(`'${packageName}'`);
}
