/** `petrel flag …`: conditions that operators name, for the rules of the strategy conditional. */
import type { Command } from 'commander';
import { clearFlag, setFlag } from '../../group/flags.js';
import { name } from '../arguments.js';
import { changeOptions, runChange } from '../change.js';

export function addFlag(program: Command): void {
  const flag = program.command('flag').description('conditions that you name, for conditional rules');
  for (const [verb, description, request] of [
    ['set', 'let the rules apply that ask for this flag', setFlag],
    ['clear', 'and no longer', clearFlag],
  ] as const) {
    changeOptions(
      flag.command(verb).description(description).argument('<flag>', 'name of the flag', name),
    ).action(async (flagName: string, _options, command: Command) => {
      await runChange(command, { request: request(flagName), until: 'settled' });
    });
  }
}
