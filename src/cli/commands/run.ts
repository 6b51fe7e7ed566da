/** `petrel run` */
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
import { chosenRoot } from '../which-group.js';

const argumentsSchema = z.tuple([z.string(), z.array(z.string())]).rest(z.unknown());

export function addRun(program: Command): void {
  const run = program
    .command('run')
    .description('run a command while this node leads: an agent whose workload is one child process')
    .argument('<command>', 'the program')
    .argument('[args...]', 'its arguments')
    .usage('[options] -- <command> [args...]')
    .addHelpText('after', help)
    .action(async (program: unknown, args: unknown, _options: unknown, self: Command) => {
      const [name, words] = argumentsSchema.parse([program, args]);
      const command = commandSchema.safeParse([name, ...words]);
      if (!command.success) throw new PetrelError('INVALID', 'a program has a name, and no NUL character');
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
The command starts when this node leads, with the hooks' environment: PETREL_TERM, PETREL_FENCING_TOKEN and the rest. It
gets SIGTERM when leadership is to end, and is dead before it has ended, with all that it started. Its output goes where
petrel's goes; its input is empty.

--restart says what to do when it ends by itself:
  no          the run ends: leadership is handed on, and the command's exit code is passed on
  on-failure  exit code 0 ends the run; otherwise it is started again, still leading, after a pause. When it has failed
              --restart-limit times more in a row, leadership is handed on, and this node is a standby
  always      the same, but exit code 0 does not end the run

Exit codes: the command's own; 128+n when signal n ended it, or told petrel to leave before it ran; 7 when leadership was
lost (with --restart no: otherwise the node stays as a standby); and those of every petrel command, before it ran.

Example:
  petrel run -z zk1,zk2,zk3 -r /reports -- /usr/local/bin/send-reports --once`;
