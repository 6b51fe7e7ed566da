/**
 * Which command lines start a guardian. Decided before the rest of the command line is loaded, which a
 * guardian does without: so the few options with a value that may stand before a command are named here.
 */

const guarded: readonly string[] = ['agent', 'run'];
const endsAtOnce: readonly string[] = ['--help', '-h', '--version', '-V', '--dry-run'];

/** The options of every command that are followed by a value. */
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

/** Whether this process was started by a guardian (`src/guardian/parent.ts`), which may have died since. */
export function hasGuardian(): boolean {
  return process.send !== undefined && process.env.PETREL_GUARDIAN !== undefined;
}

export function isGuarded(args: readonly string[]): boolean {
  const command = commandOf(args);
  return (
    command !== undefined && guarded.includes(command) && !ours(args).some((arg) => endsAtOnce.includes(arg))
  );
}

/** Answered without any command. */
export function asksForVersion(args: readonly string[]): boolean {
  return commandOf(args) === undefined && ours(args).some((arg) => arg === '--version' || arg === '-V');
}

/**
 * The first word that is neither an option nor its value; whether there is such a command is another matter.
 */
export function commandOf(args: readonly string[]): string | undefined {
  return ours(args).find(
    (arg, index) => !arg.startsWith('-') && !valueOptions.includes(args[index - 1] ?? ''),
  );
}

function ours(args: readonly string[]): readonly string[] {
  return args.slice(0, args.includes('--') ? args.indexOf('--') : args.length);
}
