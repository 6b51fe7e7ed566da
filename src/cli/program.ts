/** The command line as a whole: its commands and the options that all of them take. */
import { Command, CommanderError } from 'commander';
import { settingOptions } from '../config/read-settings.js';
import { clientSettings } from '../config/settings.js';
import { version } from '../version.js';
import { addAcl } from './commands/acl.js';
import { addAgent, addDev } from './commands/agent.js';
import { addConfig } from './commands/config.js';
import { addDoctor } from './commands/doctor.js';
import { addExplain } from './commands/explain.js';
import { addFlag } from './commands/flag.js';
import { addHistory } from './commands/history.js';
import { addLab } from './commands/lab.js';
import { addList } from './commands/list.js';
import { addNode } from './commands/node.js';
import { addPause } from './commands/pause.js';
import { addRun } from './commands/run.js';
import { addSimulate } from './commands/simulate.js';
import { addSite } from './commands/site.js';
import { addSwitchover } from './commands/switchover.js';
import { addVerifyToken } from './commands/verify-token.js';
import { addWait } from './commands/wait.js';
import { addZooKeeper } from './commands/zookeeper.js';

/** In the order of the help. */
const families = [
  addDev,
  addAgent,
  addRun,
  addList,
  addExplain,
  addSimulate,
  addLab,
  addSite,
  addNode,
  addSwitchover,
  addFlag,
  addPause,
  addConfig,
  addHistory,
  addWait,
  addVerifyToken,
  addAcl,
  addDoctor,
  addZooKeeper,
];

/** Throws CommanderError instead of exiting, and leaves it to the caller to say why. */
export function createProgram(): Command {
  const program = new Command('petrel')
    .description('Leader election and planned handover for services that must have exactly one active node')
    .version(version, '-V, --version')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => {} })
    .exitOverride();
  for (const option of settingOptions(clientSettings)) program.addOption(option);
  for (const add of families) add(program);
  return program;
}

/** Where an unknown command is nearly none of its neighbours: where it may be found. */
export function withHint(program: Command, error: unknown): unknown {
  if (!(error instanceof CommanderError)) return error;
  if (error.code === 'commander.unknownOption') return withoutValue(error);
  if (error.code !== 'commander.unknownCommand') return error;
  if (error.message.includes('Did you mean')) return error;
  const places = program.commands.flatMap((family) =>
    family.commands.map((command) => `petrel ${family.name()} ${command.name()}`),
  );
  const same = places.filter((place) => error.message.includes(`'${place.split(' ').at(-1)}'`));
  const hint = same.length > 0 ? `did you mean ${same.join(' or ')}?` : 'petrel --help lists all';
  return new CommanderError(error.exitCode, error.code, `${error.message}; ${hint}`);
}

/** An option that there is not may hold what it should not: `--password=…`. */
function withoutValue({ exitCode, code, message }: CommanderError): CommanderError {
  return new CommanderError(exitCode, code, message.replace(/'(-[^=']*)=[\s\S]*?'/, "'$1'"));
}
