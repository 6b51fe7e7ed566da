/**
 * Rewords the errors that Commander reports for invalid arguments, and adds a reference to the help of the
 * command.
 */
import { type Command, CommanderError } from 'commander';
import { valueOptions } from './guarded.js';

/** The command that the arguments name, and the first word after it. The word need not be valid. */
interface Named {
  readonly command: Command;
  readonly word: string | undefined;
}

const helpFlags: readonly string[] = ['--help', '-h'];

/**
 * Removes the request for help from arguments that name an unknown subcommand. Otherwise, Commander would
 * print the help of the parent command instead of an error.
 */
export function unlessUnknown(program: Command, args: readonly string[]): readonly string[] {
  const { command, word } = named(program, args);
  if (command.commands.length === 0 || word === undefined || word === 'help') return args;
  return args.filter((arg) => !helpFlags.includes(arg));
}

/** Rewords a Commander error in plain language. Returns any other error unchanged. */
export function inPlainWords(error: unknown, program: Command, args: readonly string[]): unknown {
  if (!(error instanceof CommanderError)) return error;
  const { command } = named(program, args);
  const path = pathOf(command);
  const message = reworded(error, command, path);
  const hasHint = message.includes('--help') || command.name() === 'help';
  const see = hasHint ? '' : `\nSee: ${path} --help`;
  return new CommanderError(error.exitCode, error.code, `${message}${see}`);
}

export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function named(program: Command, args: readonly string[]): Named {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const words = args
    .slice(0, end)
    .filter((arg, index) => !arg.startsWith('-') && !valueOptions.includes(args[index - 1] ?? ''));
  let command = program;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next === undefined) return { command, word };
    command = next;
  }
  return { command, word: undefined };
}

function reworded({ code, message }: CommanderError, command: Command, path: string): string {
  const text = message.replace(/^error: /, '');
  const quoted = (pattern: RegExp) => pattern.exec(text)?.groups ?? {};
  switch (code) {
    case 'commander.invalidArgument': {
      const ofArgument =
        /^command-argument value '(?<value>.*)' is invalid for argument '(?<name>[^']*)'\. (?<right>.*)$/s;
      const ofOption = /^option '(?<flags>[^']*)' argument '(?<value>.*)' is invalid\. (?<right>.*)$/s;
      const { value, name, flags, right } = { ...quoted(ofArgument), ...quoted(ofOption) };
      if (right === undefined) return text;
      return `'${value}' is not valid for ${flags ?? `<${name}>`}: ${lowerCase(right)}`;
    }
    case 'commander.optionMissingArgument':
      return text.replace(/^option '(.*)' argument missing$/, 'missing value for $1');
    case 'commander.missingArgument':
      return text.replace(/^missing required argument '(.*)'$/, 'missing argument <$1>');
    case 'commander.missingMandatoryOptionValue': {
      const { flags } = quoted(/^required option '(?<flags>.*)' not specified$/);
      const option = command.options.find((each) => each.flags === flags);
      return option === undefined ? text : `missing option ${flags}: ${option.description}`;
    }
    case 'commander.excessArguments': {
      const { most, count } = quoted(/Expected (?<most>\d+) arguments? but got (?<count>\d+)/);
      if (most === undefined) return text;
      const allowed = most === '0' ? 'no arguments' : `at most ${most}`;
      return `${path} accepts ${allowed}, but ${count} ${count === '1' ? 'was' : 'were'} given`;
    }
    default:
      return text;
  }
}

/** Turns a sentence into text that can follow a colon: lower case, without the final full stop. */
function lowerCase(sentence: string): string {
  return sentence.replace(/^[A-Z]/, (letter) => letter.toLowerCase()).replace(/\.$/, '');
}
