/**
 * Defines the command `petrel lab`, using the package petrel-lab. If the package is not installed, the
 * command says how to install it.
 */
import type { Command } from 'commander';
import { errorMessage } from '../../errors.js';
import { loadLab } from '../lab-package.js';

/**
 * Returns a function that adds the command. Loads the package only if `isNamed` is true, because the help can
 * list the command without the package.
 */
export async function readLab(isNamed: boolean): Promise<(program: Command) => void> {
  const define = isNamed ? await definition() : () => {};
  return (program) =>
    define(
      program
        .command('lab')
        .summary('compare published election algorithms in a simulation')
        .description('compare published election algorithms with Petrel’s in a simulation'),
    );
}

async function definition(): Promise<(lab: Command) => void> {
  try {
    return (await loadLab('petrel lab')).defineLab;
  } catch (error) {
    return (lab) => refuse(lab, error);
  }
}

/** Makes the command accept any arguments and fail with this error. */
function refuse(lab: Command, error: unknown): void {
  lab
    .argument('[election...]')
    .allowUnknownOption()
    .addHelpText('after', `\n${errorMessage(error)}`)
    .action(() => {
      throw error;
    });
}
