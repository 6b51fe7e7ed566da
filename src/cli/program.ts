/** The complete command line: its commands, and the options that all commands share. */
import { Command, CommanderError, Help, type HelpConfiguration, type Option } from 'commander';
import { settingOptions } from '../config/read-settings.js';
import { clientSettings } from '../config/settings.js';
import { version } from '../version.js';
import { topics } from './topics.js';
import { pathOf } from './usage-errors.js';

interface Family {
  readonly commands: readonly string[];
  /** Heading of the commands in the help. */
  readonly heading: string;
  /** Whether these commands need all other commands to be loaded, for example to describe them. */
  readonly needsAll?: boolean;
  /** Loads the commands. `isNamed` is true if one of them will be run, and false if they are only listed. */
  load(isNamed: boolean): Promise<(program: Command) => void>;
}

const headings = {
  observe: 'Observe:',
  change: 'Change:',
  run: 'Run:',
  help: 'Help:',
};

/**
 * Groups of commands, in the order in which the help lists them. Only the modules of the requested command
 * are loaded, so that an agent starts faster.
 */
const families: readonly Family[] = [
  {
    commands: ['list'],
    heading: headings.observe,
    load: async () => (await import('./commands/list.js')).addList,
  },
  {
    commands: ['explain'],
    heading: headings.observe,
    load: async () => (await import('./commands/explain.js')).addExplain,
  },
  {
    commands: ['simulate'],
    heading: headings.observe,
    load: async () => (await import('./commands/simulate.js')).addSimulate,
  },
  {
    commands: ['history'],
    heading: headings.observe,
    load: async () => (await import('./commands/history.js')).addHistory,
  },
  {
    commands: ['wait'],
    heading: headings.observe,
    load: async () => (await import('./commands/wait.js')).addWait,
  },
  {
    commands: ['doctor'],
    heading: headings.observe,
    load: async () => (await import('./commands/doctor.js')).addDoctor,
  },
  {
    commands: ['verify-token'],
    heading: headings.observe,
    load: async () => (await import('./commands/verify-token.js')).addVerifyToken,
  },
  {
    commands: ['switchover', 'failover'],
    heading: headings.change,
    load: async () => (await import('./commands/switchover.js')).addSwitchover,
  },
  {
    commands: ['pause', 'resume'],
    heading: headings.change,
    load: async () => (await import('./commands/pause.js')).addPause,
  },
  {
    commands: ['site'],
    heading: headings.change,
    load: async () => (await import('./commands/site.js')).addSite,
  },
  {
    commands: ['node'],
    heading: headings.change,
    load: async () => (await import('./commands/node.js')).addNode,
  },
  {
    commands: ['flag'],
    heading: headings.change,
    load: async () => (await import('./commands/flag.js')).addFlag,
  },
  {
    commands: ['config'],
    heading: headings.change,
    load: async () => (await import('./commands/config.js')).addConfig,
  },
  {
    commands: ['acl'],
    heading: headings.change,
    load: async () => (await import('./commands/acl.js')).addAcl,
  },
  {
    commands: ['agent'],
    heading: headings.run,
    load: async () => (await import('./commands/agent.js')).addAgent,
  },
  {
    commands: ['run'],
    heading: headings.run,
    load: async () => (await import('./commands/run.js')).addRun,
  },
  {
    commands: ['dev'],
    heading: headings.run,
    load: async () => (await import('./commands/agent.js')).addDev,
  },
  {
    commands: ['zookeeper'],
    heading: headings.run,
    load: async () => (await import('./commands/zookeeper.js')).addZooKeeper,
  },
  {
    commands: ['lab'],
    heading: headings.run,
    load: async (isNamed) => (await import('./commands/lab.js')).readLab(isNamed),
  },
  {
    commands: ['help', 'options'],
    heading: headings.help,
    needsAll: true,
    load: async () => (await import('./commands/help.js')).addHelp,
  },
  {
    commands: ['completion', 'complete'],
    heading: headings.help,
    needsAll: true,
    load: async () => (await import('./commands/completion.js')).readCompletion(),
  },
];

/**
 * Creates the program with the command `named`. If `named` is unknown or undefined, creates the program with
 * all commands. Null means no commands. When the program parses arguments, it throws CommanderError instead
 * of exiting, and the caller must print the error message.
 */
export async function createProgram(named?: string | null): Promise<Command> {
  const program = new Command('petrel')
    .description('Leader election and planned handover for services that must have exactly one active node')
    .version(version, '-V, --version')
    .configureHelp(helpOf)
    .configureOutput({ outputError: () => {} })
    .addHelpText('afterAll', ({ command }) => moreHelp(command))
    .exitOverride();
  for (const option of settingOptions(clientSettings)) program.addOption(option);
  const wanted = wantedBy(named);
  const isNamed = wanted.length < families.length;
  const loaded = await Promise.all(
    wanted.map(async ({ load, heading }) => ({ add: await load(isNamed), heading })),
  );
  for (const { add, heading } of loaded) add(program.commandsGroup(heading));
  return program;
}

const plainHelp = new Help();

/**
 * Hides the options that all commands share, because there are many of them and readers of the help rarely
 * need them. Only `petrel options` shows them. Lists of commands show only names and short descriptions, so
 * that each command fits on one line.
 */
const helpOf: HelpConfiguration = {
  minWidthToWrap: 30,
  subcommandTerm: (command) => {
    const names = [command.name(), ...command.aliases()].join(', ');
    const isInRoot = command.parent?.parent === null;
    return isInRoot ? names : [names, command.usage().replace('[options]', '').trim()].join(' ').trim();
  },
  visibleOptions: (command) =>
    command.parent === null
      ? plainHelp.visibleOptions(command).filter((option) => !isCommon(option))
      : plainHelp.visibleOptions(command),
};

/**
 * Whether all commands share the option. Among the program's options, only the shared ones have a heading.
 */
function isCommon({ helpGroupHeading }: Option): boolean {
  return helpGroupHeading !== undefined;
}

function moreHelp(command: Command): string {
  if (command.name() === 'options') return '';
  const lines = [
    ...(command.parent === null ? [`petrel help TOPIC explains: ${[...topics.keys()].join(', ')}.`] : []),
    ...(command.commands.length === 0 ? [] : [`${pathOf(command)} COMMAND --help describes a command.`]),
    'petrel options lists the options of all commands: -z, -r, -f and others.',
  ];
  return ['', ...lines].join('\n');
}

function wantedBy(named: string | null | undefined): readonly Family[] {
  if (named === null) return [];
  const wanted = families.filter(({ commands }) => commands.some((command) => command === named));
  return wanted.length > 0 && !wanted.some(({ needsAll }) => needsAll) ? wanted : families;
}

/**
 * Adds a hint to the error for an unknown command, unless Commander has suggested a similar command. If there
 * are subcommands with the unknown name, the hint lists them.
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
