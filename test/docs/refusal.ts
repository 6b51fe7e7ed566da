/** Whether Petrel's command line accepts a command. */
import type { Command } from 'commander';
import { commandOf } from '../../src/cli/guarded.js';
import { createProgram } from '../../src/cli/program.js';

function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

/** Returns why Petrel refuses a command line, before it does anything. Empty if it accepts it. */
export async function refusal(args: readonly string[]): Promise<string[]> {
  const program = await createProgram(commandOf(args));
  for (const command of allOf(program)) {
    command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
    if (command.commands.length === 0) command.action(() => {});
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return [];
  } catch (error) {
    const isHelp = error instanceof Error && 'exitCode' in error && error.exitCode === 0;
    return isHelp ? [] : [`petrel ${args.join(' ')}: ${error}`];
  }
}
