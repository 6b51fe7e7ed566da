/** Defines the command `petrel verify-token`. */
import { type Command, InvalidArgumentError } from 'commander';
import { PetrelError } from '../../errors.js';
import { exitCodes } from '../../exit-code.js';
import { type TokenVerdict, verifyToken } from '../../group/token.js';
import { longSchema } from '../../model/names.js';
import { oneLine } from '../../model/outside.js';
import { helpText } from '../help-text.js';
import { type Printable, print } from '../output.js';
import { withSession } from '../session.js';

export function addVerifyToken(program: Command): void {
  program
    .command('verify-token')
    .summary('check that a fencing token is the newest')
    .description(
      'check that a fencing token is the newest and that its leadership continues; exit code 0 if so, 7 if not',
    )
    .argument('[token]', 'fencing token (default: PETREL_FENCING_TOKEN)', wholeToken)
    .addHelpText('after', helpText(help))
    .action(async (given: string | undefined, _options: unknown, command: Command) => {
      const token = given ?? tokenOfEnvironment();
      await withSession(command, async ({ access, settings }) => {
        const verdict = await verifyToken(access, BigInt(token));
        print(settings.format, printable(verdict));
        process.exitCode = verdict.valid ? exitCodes.done : exitCodes.leadershipLost;
      });
    });
}

const rule = 'expected a fencing token, a whole number as in PETREL_FENCING_TOKEN';

function wholeToken(text: string): string {
  if (longSchema.safeParse(text).success) return text;
  throw new InvalidArgumentError(`${rule}.`);
}

function tokenOfEnvironment(): string {
  const text = process.env.PETREL_FENCING_TOKEN ?? '';
  if (longSchema.safeParse(text).success) return text;
  throw new PetrelError(
    'INVALID',
    text === '' ? `no fencing token given: ${rule}` : `PETREL_FENCING_TOKEN: ${rule}`,
  );
}

function printable(verdict: TokenVerdict): Printable {
  const { token, valid, newest, leader, reason } = verdict;
  return {
    json: verdict,
    rows: [
      ['token', 'valid', 'newest', 'node', 'reason'],
      [token, valid ? 'yes' : 'no', newest ?? '-', leader?.node ?? '-', reason],
    ],
    pretty: () => `${token} is ${valid ? 'valid' : 'not valid'}: ${oneLine(reason)}`,
  };
}

const help = `
Exit codes: 0 the token is the newest of the group, and its leadership continues; 7 the token is not valid, or the group has
no leader: stop all work under this token; 3 ZooKeeper is unreachable: assume that leadership is lost. The answer never
comes from a cache.

Limit: the answer holds for one moment. Before the next line of your script runs, anything can happen, even a pause of
minutes. Only a store that compares the token itself, in one step with the write, is safe.

Example:
  petrel verify-token "$PETREL_FENCING_TOKEN" >/dev/null || exit`;
