/**
 * Which command lines start a guardian. Decided before the rest of the command line is loaded, which a guardian does
 * without: so the few options with a value that may stand before a command are named here.
 */

const guarded: readonly string[] = ['agent', 'run'];
const endsAtOnce: readonly string[] = ['--help', '-h', '--version', '-V', '--dry-run'];

/** The options of every command that are followed by a value. */
const valueOptions: readonly string[] = [
  '-c',
  '--config',
  '-z',
  '--zookeeper',
  '-r',
  '--root',
  '--auth-file',
  '--strategy-module',
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
function hasGuardian(): boolean {
  return process.send !== undefined && process.env.PETREL_GUARDIAN !== undefined;
}

function isGuarded(args: readonly string[]): boolean {
  const ours = args.slice(0, args.includes('--') ? args.indexOf('--') : args.length);
  const command = ours.find(
    (arg, index) => !arg.startsWith('-') && !valueOptions.includes(ours[index - 1] ?? ''),
  );
  return command !== undefined && guarded.includes(command) && !ours.some((arg) => endsAtOnce.includes(arg));
}

export = { hasGuardian, isGuarded, valueOptions };
