/** The complete command line: its commands, and the options of all commands. */
import { Command, CommanderError } from 'commander';
import { settingOptions } from '../config/read-settings.js';
import { clientSettings } from '../config/settings.js';
import { version } from '../version.js';

interface Family {
  readonly commands: readonly string[];
  /** Loads the commands. `isNamed` says that one of them will be run, and not only listed. */
  load(isNamed: boolean): Promise<(program: Command) => void>;
}

/**
 * Groups of commands, in the order of the help. Only the modules of the given command are loaded, so that an
 * agent starts faster.
 */
const families: readonly Family[] = [
  { commands: ['dev'], load: async () => (await import('./commands/agent.js')).addDev },
  { commands: ['agent'], load: async () => (await import('./commands/agent.js')).addAgent },
  { commands: ['run'], load: async () => (await import('./commands/run.js')).addRun },
  { commands: ['list'], load: async () => (await import('./commands/list.js')).addList },
  { commands: ['explain'], load: async () => (await import('./commands/explain.js')).addExplain },
  { commands: ['simulate'], load: async () => (await import('./commands/simulate.js')).addSimulate },
  { commands: ['lab'], load: async (isNamed) => (await import('./commands/lab.js')).readLab(isNamed) },
  { commands: ['site'], load: async () => (await import('./commands/site.js')).addSite },
  { commands: ['node'], load: async () => (await import('./commands/node.js')).addNode },
  {
    commands: ['switchover', 'failover'],
    load: async () => (await import('./commands/switchover.js')).addSwitchover,
  },
  { commands: ['flag'], load: async () => (await import('./commands/flag.js')).addFlag },
  { commands: ['pause', 'resume'], load: async () => (await import('./commands/pause.js')).addPause },
  { commands: ['config'], load: async () => (await import('./commands/config.js')).addConfig },
  { commands: ['history'], load: async () => (await import('./commands/history.js')).addHistory },
  { commands: ['wait'], load: async () => (await import('./commands/wait.js')).addWait },
  {
    commands: ['verify-token'],
    load: async () => (await import('./commands/verify-token.js')).addVerifyToken,
  },
  { commands: ['acl'], load: async () => (await import('./commands/acl.js')).addAcl },
  { commands: ['doctor'], load: async () => (await import('./commands/doctor.js')).addDoctor },
  { commands: ['zookeeper'], load: async () => (await import('./commands/zookeeper.js')).addZooKeeper },
];

/**
 * Creates the program with the command `named`, or with all commands if that is unknown. Null means no
 * commands. When the program parses arguments, it throws CommanderError instead of exiting, and leaves the
 * error message to the caller.
 */
export async function createProgram(named?: string | null): Promise<Command> {
  const program = new Command('petrel')
    .description('Leader election and planned handover for services that must have exactly one active node')
    .version(version, '-V, --version')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => {} })
    .exitOverride();
  for (const option of settingOptions(clientSettings)) program.addOption(option);
  const wanted = wantedBy(named);
  const isNamed = wanted.length < families.length;
  const loaded = await Promise.all(wanted.map(({ load }) => load(isNamed)));
  for (const add of loaded) add(program);
  return program;
}

function wantedBy(named: string | null | undefined): readonly Family[] {
  if (named === null) return [];
  const wanted = families.filter(({ commands }) => commands.some((command) => command === named));
  return wanted.length > 0 ? wanted : families;
}

/**
 * Adds a hint to the error for an unknown command that resembles no command. The hint says which command has
 * a subcommand of that name.
 */
export async function withHint(error: unknown): Promise<unknown> {
  if (!(error instanceof CommanderError)) return error;
  if (error.code === 'commander.unknownOption') return withoutValue(error);
  if (error.code !== 'commander.unknownCommand') return error;
  if (error.message.includes('Did you mean')) return error;
  const program = await createProgram();
  const places = program.commands.flatMap((family) =>
    family.commands.map((command) => `petrel ${family.name()} ${command.name()}`),
  );
  const same = places.filter((place) => error.message.includes(`'${place.split(' ').at(-1)}'`));
  const hint = same.length > 0 ? `did you mean ${same.join(' or ')}?` : 'petrel --help lists all commands';
  return new CommanderError(error.exitCode, error.code, `${error.message}; ${hint}`);
}

/** Removes the value of an unknown option from the message. The value may be a secret: `--password=…`. */
function withoutValue({ exitCode, code, message }: CommanderError): CommanderError {
  return new CommanderError(exitCode, code, message.replace(/'(-[^=']*)=[\s\S]*?'/, "'$1'"));
}
