/** Defines the commands `petrel agent` and `petrel dev`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { checkGroups, hasGroups } from '../../config/group-settings.js';
import { usualListen } from '../../config/listen.js';
import { type EffectiveSettings, readSettings, settingOptions } from '../../config/read-settings.js';
import { type AgentSettings, agentSettings, clientSettings } from '../../config/settings.js';
import { type CrashPoint, parsePoint, pointsHelp } from '../../dev/crash-points.js';
import { errorMessage, PetrelError } from '../../errors.js';
import { exitCodes } from '../../exit-code.js';
import { createLogger } from '../../log.js';
import { exportSettings } from '../../node/exported-settings.js';
import { rereading } from '../../node/reload.js';
import { runGroups } from '../../node/run-groups.js';
import { runAgent } from '../../node/run-node.js';
import { wholeNumber } from '../arguments.js';
import { helpText } from '../help-text.js';
import { table } from '../layout.js';
import { print } from '../output.js';
import { readClientSettings } from '../settings.js';

/** Output of `agent --dry-run`: every setting with its source. */
export const settingsSchema = z.array(z.object({ key: z.string(), value: z.string(), source: z.string() }));

export function addAgent(program: Command): void {
  const agent = program
    .command('agent')
    .summary('run one node in the foreground')
    .description(
      'run one node in the foreground: it registers, takes part in elections, and leads when elected',
    )
    .option('--dry-run', 'print the effective settings and the source of each, then exit')
    .addHelpText(
      'after',
      helpText(`
SIGTERM hands leadership over, then stops the agent; a second SIGTERM stops it without waiting for a successor. SIGHUP reloads the settings file.

Example:
  petrel agent -z zk1,zk2,zk3 --node-id a1 --site a \\
    --on-takeover 'systemctl start billing' \\
    --on-release 'systemctl stop billing'`),
    )
    .action(async (_options, command: Command) => {
      const flags = command.optsWithGlobals();
      const sources = { flags, env: process.env };
      const effective = await readSettings(agentSettings, sources);
      const { values, warnings } = effective;
      checkGroups(values);
      if (flags.dryRun === true) return await printSettings(command, effective);
      const { logLevel: level, logFormat: format, nodeId: node, root } = values;
      const isOfSeveral = hasGroups(values);
      const log = createLogger({ level, format, fields: isOfSeveral ? { node } : { node, root } });
      for (const warning of warnings) log.warn(warning);
      const run = isOfSeveral ? runGroups : runAgent;
      await run(values, exportSettings(flags), log, rereading(agentSettings, sources, values));
      process.exitCode = exitCodes.done;
    });
  const common = settingOptions(clientSettings).map(({ long }) => long);
  for (const option of settingOptions(agentSettings)) {
    if (!common.includes(option.long)) agent.addOption(option);
  }
}

async function printSettings(command: Command, effective: EffectiveSettings<AgentSettings>): Promise<void> {
  const { settings } = await readClientSettings(command);
  const described: z.infer<typeof settingsSchema> = effective.described.map(({ key, value, source }) => ({
    key,
    value,
    source,
  }));
  const header = ['setting', 'value', 'source'];
  const rows = described.map(({ key, value, source }) => [key, value, source]);
  print(settings.format, {
    json: described,
    rows: [header, ...rows],
    pretty: (layout) => table(header, rows, layout),
  });
}

/** Highest HTTP port for the first of four agents. The other three use the ports after it. */
const mostHttpPort = 65_535 - 3;

const devSchema = z.object({
  port: z.int(),
  httpPort: z.int(),
  crash: z.custom<CrashPoint>((value) => typeof value === 'object').optional(),
  once: z.boolean().default(false),
});

export function addDev(program: Command): void {
  program
    .command('dev')
    .summary('try Petrel on this machine')
    .description('try Petrel on this machine: starts an in-memory ZooKeeper and four agents in two sites')
    .addOption(
      new Option('--port <n>', 'port for ZooKeeper; if it is in use, a free port')
        .argParser(wholeNumber(0, 65_535))
        .default(2181),
    )
    .addOption(
      new Option(
        '--http-port <n>',
        'HTTP port of the first agent; the others use the next ports; ports in use are replaced by free ones',
      )
        .argParser(wholeNumber(0, mostHttpPort))
        .default(usualListen.port),
    )
    .addOption(
      new Option(
        '--crash <at>',
        'kill a process in the middle of a transition and show the recovery; see below',
      ).argParser(crashPoint),
    )
    .option('--once', 'with --crash: exit when the recovery is complete')
    .addHelpText('after', helpText(pointsHelp()))
    .action(async (_options, command: Command) => {
      const { runDev } = await import('../dev.js');
      const { port, httpPort, crash = null, once } = devSchema.parse(command.opts());
      if (once && crash === null) throw new PetrelError('INVALID', '--once requires --crash');
      const { settings, logLevel } = await readClientSettings(command);
      const print = (line: string) => process.stdout.write(`${line}\n`);
      // This process prints the transitions, and a rehearsal prints every event. By default, the agents
      // therefore log only problems.
      const level = logLevel === 'silent' ? (crash === null ? 'warn' : 'fatal') : logLevel;
      await runDev({ port, httpPort, root: settings.root, crash, once, logLevel: level, print });
      process.exitCode = exitCodes.done;
    });
}

function crashPoint(text: string): CrashPoint {
  try {
    return parsePoint(text);
  } catch (error) {
    throw new InvalidArgumentError(errorMessage(error));
  }
}
