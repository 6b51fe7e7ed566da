/**
 * Defines the commands `petrel completion`, which prints a script for a shell, and `petrel complete`, which
 * that script calls.
 */
import type { Complete, RootCommand } from '@bomb.sh/tab';
import { Command, Option } from 'commander';
import { settingOptions } from '../../config/read-settings.js';
import { clientSettings, outputFormats } from '../../config/settings.js';
import { findGroups } from '../../group/all-groups.js';
import { readableConfig } from '../../group/judge.js';
import { siteNames } from '../../group/listing.js';
import { readGroup } from '../../group/view.js';
import { withEnsemble, withSession } from '../session.js';

/** Kind of object that is named by the value of an argument or option. */
type Kind = 'node' | 'site' | 'root' | 'format';
type Names = Readonly<Partial<Record<Kind, readonly string[]>>>;

/** Kinds of values, keyed by the name of the argument or option. */
const kinds: Readonly<Record<string, Kind>> = {
  node: 'node',
  to: 'node',
  without: 'node',
  site: 'site',
  'to-site': 'site',
  'without-site': 'site',
  root: 'root',
  under: 'root',
  format: 'format',
};

/** The shell waits for the names, so this process soon stops waiting for servers that do not answer. */
const patience = '1s';

/**
 * Returns a function that adds the commands to a program. The program must already have all other commands.
 * The completion library is an ES module. It is imported dynamically, because some versions of Node.js cannot
 * `require` ES modules.
 */
export async function readCompletion(): Promise<(program: Command) => void> {
  const { default: tab } = await import('@bomb.sh/tab/commander');
  return (program) => addCompletion(program, tab(program, { completionCommandName: 'completion' }));
}

function addCompletion({ commands }: Command, completions: RootCommand): void {
  const named = (name: string) => commands.find((one) => one.name() === name);
  named('completion')?.description('print a completion script for bash, zsh or fish');
  // The completion script calls this command: `petrel complete -- WORDS`.
  named('complete')?.hook('preAction', async (complete, { args }) => {
    completeNames(completions, await namesFor(complete.parent ?? complete, args));
  });
}

/** Makes the library suggest names, and the options that all commands share. */
function completeNames(completions: RootCommand, names: Names): void {
  for (const command of [completions, ...completions.commands.values()]) {
    for (const { long, short, description } of settingOptions(clientSettings)) {
      command.option(nameOf(long), description, () => {}, nameOf(short));
    }
    const offer = (name: string) => (found: Complete) => {
      const kind = kinds[name];
      for (const one of kind === undefined ? [] : (names[kind] ?? [])) found(one, '');
    };
    for (const argument of command.arguments.values()) {
      if (kinds[argument.name] !== undefined) argument.handler = offer(argument.name);
    }
    for (const option of command.options.values()) {
      if (kinds[option.value] !== undefined) option.handler = offer(option.value);
    }
  }
}

function nameOf(flag: string | undefined): string {
  return flag?.replace(/^-+/, '') ?? '';
}

/** Returns the possible names for the last word. Returns none if the group cannot be read. */
async function namesFor(program: Command, words: readonly string[]): Promise<Names> {
  const before = words.slice(0, -1);
  const line = parsed(before);
  try {
    switch (kindOfLast(program, before)) {
      case 'format':
        return { format: outputFormats };
      case 'root':
        return { root: await withEnsemble(line, ({ access }) => findGroups(access.store, '/')) };
      case 'node':
      case 'site':
        return await withSession(line, async ({ access }) => {
          const view = await readGroup(access);
          return {
            node: view.members.map(({ node }) => node),
            site: siteNames(view, readableConfig(view)),
          };
        });
      case undefined:
        return {};
    }
  } catch {
    return {};
  }
}

/** Returns the kind of object that the next word should name. */
function kindOfLast(program: Command, before: readonly string[]): Kind | undefined {
  const command = before.reduce<Command>(
    (found, word) => found.commands.find((one) => [one.name(), ...one.aliases()].includes(word)) ?? found,
    program,
  );
  const options = [...command.options, ...program.options];
  const last = before.at(-1);
  const option = options.find(({ long, short }) => last !== undefined && [long, short].includes(last));
  if (option?.long !== undefined && (option.required || option.optional)) return kinds[nameOf(option.long)];
  return command.registeredArguments
    .map((argument) => kinds[argument.name()])
    .find((kind) => kind !== undefined);
}

/**
 * Returns a command with the options from these words. The options determine the servers from which names are
 * read.
 */
function parsed(words: readonly string[]): Command {
  const line = new Command()
    .allowUnknownOption()
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  for (const option of settingOptions(clientSettings)) line.addOption(option);
  try {
    line.parseOptions([...words]);
  } catch {
    // The value of an option is still missing.
  }
  line.setOptionValue(new Option('--connect-timeout').attributeName(), patience);
  return line;
}
