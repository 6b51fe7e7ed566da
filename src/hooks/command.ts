/** A command that an operator configured: a program with its arguments, or a shell command line. */
import * as z from 'zod';

const rule = 'expected a shell command, or a list of the program and its arguments';
const word = z
  .string(rule)
  .refine((text) => !text.includes('\0'), 'a command must not contain a NUL character');

export const commandSchema = z.union(
  [
    word.refine((line) => line.trim() !== '', 'the command is empty: remove the setting instead'),
    z.tuple([word.min(1, 'the name of the program is empty')], word),
  ],
  rule,
);

/** A string is run by `/bin/sh -c`. A list is run directly. */
export type Command = z.output<typeof commandSchema>;

/** Returns the program to start and its arguments. */
export function argvOf(command: Command): { program: string; args: string[] } {
  if (typeof command === 'string') return { program: '/bin/sh', args: ['-c', command] };
  const [program, ...args] = command;
  return { program, args };
}

/** Returns the command as an operator would type it in a shell. */
export function commandText(command: Command): string {
  return typeof command === 'string' ? command : command.map(quoted).join(' ');
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Names of the hooks in settings and messages. */
export const hookNames = {
  prepare: 'onPrepare',
  takeover: 'onTakeover',
  release: 'onRelease',
  fence: 'onFence',
} as const;
