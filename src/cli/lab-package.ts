/**
 * The package `petrel-lab`, for `petrel lab` and the planning of `petrel simulate`. An agent has no use for
 * it, so it is installed separately, and loaded only by a command that needs it.
 */
import type { Command } from 'commander';
import { errorMessage, PetrelError } from '../errors.js';
import { version } from '../version.js';
import type { Wanted } from '../what-if/asked-strategies.js';
import type { Simulation } from '../what-if/simulation.js';
import type { Assumed, Situation } from '../what-if/situation.js';

/** What the package exports by default. */
export interface LabPackage {
  /** Gives the command `petrel lab` its arguments, options and action. */
  defineLab(lab: Command): void;
  /** Reads a described deployment; `of` names the file. Throws PetrelError INVALID. */
  describedSituation(of: string, text: string, assumed: Assumed): DescribedSituation;
  /** The latencies of a simulation, as SVG. */
  plotOf(simulation: Simulation): string;
}

export interface DescribedSituation extends Pick<Wanted, 'own' | 'listed'> {
  readonly situation: Situation;
}

/** Not a literal, or the compiler would need a package that is itself compiled after this one. */
const packageName: string = 'petrel-lab';

/** Throws PetrelError INVALID, which says what to install. `wantedBy`: what cannot be done without it. */
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

/** And not just something that the package needs itself. */
function isNotInstalled(error: unknown): boolean {
  return errorMessage(error).includes(`'${packageName}'`);
}
