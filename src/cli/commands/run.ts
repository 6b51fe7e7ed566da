/** Defines the command `petrel run`. */
import type { Command } from 'commander';
import * as z from 'zod';
import { SessionFile } from '../../agent/session/session-file.js';
import { readSettings, settingOptions } from '../../config/read-settings.js';
import { clientSettings, runSettings } from '../../config/settings.js';
import { PetrelError } from '../../errors.js';
import { commandSchema } from '../../hooks/command.js';
import { createLogger } from '../../log.js';
import { exportSettings } from '../../node/exported-settings.js';
import { takeFreeName } from '../../node/free-name.js';
import { rereading } from '../../node/reload.js';
import { runCommand } from '../../node/run-command.js';
import { helpText } from '../help-text.js';
import { chosenRoot } from '../which-group.js';

const argumentsSchema = z.tuple([z.string(), z.array(z.string())]).rest(z.unknown());

export function addRun(program: Command): void {
  const run = program
    .command('run')
    .summary('run a command only while this node leads')
    .description('run a command only while this node leads: an agent whose workload is one child process')
    .argument('<command>', 'program to run')
    .argument('[args...]', 'arguments of the program')
    .usage('[options] -- <command> [args...]')
    .addHelpText('after', helpText(help))
    .action(async (program: unknown, args: unknown, _options: unknown, self: Command) => {
      const [name, words] = argumentsSchema.parse([program, args]);
      const command = commandSchema.safeParse([name, ...words]);
      if (!command.success)
        throw new PetrelError(
          'INVALID',
          'expected a program name that is not empty and contains no NUL character',
        );
      const sources = { flags: self.optsWithGlobals(), env: process.env };
      const { values, described, warnings } = await readSettings(runSettings, sources);
      const root = await chosenRoot(values.root, described, sources);
      const { logLevel: level, logFormat: format, stateDir, nodeId } = values;
      const isNamed = described.some(({ key, source }) => key === 'nodeId' && source !== 'default');
      const { node, memory } = isNamed
        ? { node: nodeId, memory: SessionFile.open(stateDir, root, nodeId) }
        : takeFreeName(stateDir, root);
      const log = createLogger({ level, format, fields: { node, root } });
      for (const warning of warnings) log.warn(warning);
      const reread = rereading(runSettings, sources, values);
      process.exitCode = await runCommand(
        { ...values, root, nodeId: node },
        memory,
        command.data,
        exportSettings(sources.flags),
        log,
        reread,
      );
    });
  const common = settingOptions(clientSettings).map(({ long }) => long);
  for (const option of settingOptions(runSettings)) {
    if (!common.includes(option.long)) run.addOption(option);
  }
}

const help = `
The command starts when this node becomes leader, with the environment of the hooks (PETREL_TERM, PETREL_FENCING_TOKEN, …).
When leadership must end, the command receives SIGTERM. Leadership ends only after the command and all processes that it
started are dead. The command shares petrel's stdout and stderr; its stdin is empty.

--restart says what to do when the command exits by itself:
  no          hand leadership over, then exit with the command's exit code
  on-failure  exit code 0: same as --restart no. Otherwise restart the command after a pause, and keep leadership.
              After --restart-limit failed restarts in a row, hand leadership over and stay in the group as a standby
  always      same as on-failure, but also restart after exit code 0

Exit codes: the command's exit code; 128+n if signal n ended the command, or stopped petrel before the command ran; 7 if
leadership was lost (only with --restart no: otherwise the node stays in the group as a standby); before the command runs,
the exit codes that all petrel commands share.

Example:
  petrel run -z zk1,zk2,zk3 -r /reports -- /usr/local/bin/send-reports --once`;
