/** Defines the commands `petrel help` and `petrel options`. */
import { type Command, InvalidArgumentError } from 'commander';
import { nearestOf } from '../../config/nearest.js';
import { printText } from '../output.js';
import { topics } from '../topics.js';

export function addHelp(program: Command): void {
  program
    .command('help')
    .description('explain a command or a topic')
    .argument('[words...]', `a command, such as site priority, or a topic: ${[...topics.keys()].join(', ')}`)
    .action((words: string[]) => {
      help(program, words);
    });
  const options = program.command('options').description('list the options that all commands accept');
  options
    .configureHelp({
      ...options.configureHelp(),
      visibleOptions: () => program.options.filter(({ helpGroupHeading }) => helpGroupHeading !== undefined),
    })
    .action(() => {
      options.outputHelp();
    });
}

function help(program: Command, words: readonly string[]): void {
  const [word = ''] = words;
  const topic = words.length === 1 ? topics.get(word) : undefined;
  if (topic !== undefined) {
    printText(topic(), 0);
    return;
  }
  const command = words.reduce<Command | undefined>(
    (found, name) => found?.commands.find((one) => [one.name(), ...one.aliases()].includes(name)),
    program,
  );
  if (command !== undefined) {
    command.outputHelp();
    return;
  }
  const known = [...program.commands.map((one) => one.name()), ...topics.keys()];
  const nearest = nearestOf(word, known);
  const hint =
    nearest === undefined ? `topics: ${[...topics.keys()].join(', ')}` : `did you mean ${nearest}?`;
  throw new InvalidArgumentError(`Unknown command or topic ${words.join(' ')}; ${hint}`);
}
