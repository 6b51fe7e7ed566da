/**
 * `petrel lab`, which the package petrel-lab defines. Where that is not installed, it says what to install.
 */
import type { Command } from 'commander';
import { errorMessage } from '../../errors.js';
import { loadLab } from '../lab-package.js';

/** Loads the package only if the command `isNamed`: the help lists it without. */
export async function readLab(isNamed: boolean): Promise<(program: Command) => void> {
  const define = isNamed ? await definition() : () => {};
  return (program) =>
    define(
      program
        .command('lab')
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

/** Whatever its arguments are. */
function refuse(lab: Command, error: unknown): void {
  lab
    .argument('[election...]')
    .allowUnknownOption()
    .addHelpText('after', `\n${errorMessage(error)}`)
    .action(() => {
      throw error;
    });
}
