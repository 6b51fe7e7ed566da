/**
 * Decides which command lines start a guardian. This happens before the rest of the program is loaded,
 * because a guardian does not need the rest. Therefore, this module itself lists the few options that take a
 * value and may precede a command.
 */
import { guardianVariable } from '../guardian/variables.js';

const guarded: readonly string[] = ['agent', 'run'];
const endsAtOnce: readonly string[] = ['--help', '-h', '--version', '-V', '--dry-run'];

/** The options that take a value and that every command has. */
export const valueOptions: readonly string[] = [
  '-c',
  '--config',
  '-z',
  '--zookeeper',
  '-r',
  '--root',
  '--auth-file',
  '--strategy-module',
  '--constraint-module',
  '--tls-ca',
  '--tls-cert',
  '--tls-key',
  '--tls-passphrase-file',
  '--tls-servername',
  '--log-level',
  '--log-format',
  '-f',
  '--format',
  '--connect-timeout',
  '--wait-timeout',
];

/**
 * Whether a guardian started this process (`src/guardian/parent.ts`). That guardian may no longer be running.
 */
export function hasGuardian(): boolean {
  return process.send !== undefined && process.env[guardianVariable] !== undefined;
}

export function isGuarded(args: readonly string[]): boolean {
  const command = commandOf(args);
  return (
    command !== undefined && guarded.includes(command) && !ours(args).some((arg) => endsAtOnce.includes(arg))
  );
}

/** Whether the arguments request the version, which is printed without running a command. */
export function asksForVersion(args: readonly string[]): boolean {
  return commandOf(args) === undefined && ours(args).some((arg) => arg === '--version' || arg === '-V');
}

/**
 * Returns the first word that is neither an option nor the value of one. The word need not be a known
 * command.
 */
export function commandOf(args: readonly string[]): string | undefined {
  return ours(args).find(
    (arg, index) => !arg.startsWith('-') && !valueOptions.includes(args[index - 1] ?? ''),
  );
}

function ours(args: readonly string[]): readonly string[] {
  return args.slice(0, args.includes('--') ? args.indexOf('--') : args.length);
}
