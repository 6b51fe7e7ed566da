/** Defines the commands `petrel pause` and `petrel resume`. */
import type { Command } from 'commander';
import { pauseGroup, resumeGroup } from '../../group/pause.js';
import { changeOptions, runChange } from '../change.js';
import { helpText } from '../help-text.js';

export function addPause(program: Command): void {
  changeOptions(
    program
      .command('pause')
      .summary('stop automatic transitions')
      .description('stop automatic transitions until petrel resume; the pause survives restarts'),
  )
    .addHelpText('after', helpText('\nExample:\n  petrel pause --reason "network maintenance"'))
    .action(async (_options, command: Command) => {
      await runChange(command, { request: pauseGroup, until: 'settled' });
    });
  changeOptions(
    program
      .command('resume')
      .summary('allow automatic transitions again')
      .description('end a pause: automatic transitions are allowed again'),
  ).action(async (_options, command: Command) => {
    await runChange(command, { request: resumeGroup, until: 'settled' });
  });
}
