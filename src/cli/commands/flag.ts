/**
 * Defines the commands `petrel flag …`. Flags are conditions that operators set for the rules of the strategy
 * `conditional`.
 */
import type { Command } from 'commander';
import { clearFlag, setFlag } from '../../group/flags.js';
import { name } from '../arguments.js';
import { changeOptions, runChange } from '../change.js';

export function addFlag(program: Command): void {
  const flag = program
    .command('flag')
    .summary('set and clear flags for conditional rules')
    .description('set and clear flags, the conditions that you define for conditional rules');
  for (const [verb, description, request] of [
    ['set', 'set a flag, so that rules that require it apply', setFlag],
    ['clear', 'clear a flag', clearFlag],
  ] as const) {
    changeOptions(
      flag.command(verb).description(description).argument('<flag>', 'name of the flag', name),
    ).action(async (flagName: string, _options, command: Command) => {
      await runChange(command, { request: request(flagName), until: 'settled' });
    });
  }
}
