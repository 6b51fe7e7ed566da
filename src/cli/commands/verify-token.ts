/** `petrel verify-token` */
import { type Command, InvalidArgumentError } from 'commander';
import { PetrelError } from '../../errors.js';
import { exitCodes } from '../../exit-code.js';
import { type TokenVerdict, verifyToken } from '../../group/token.js';
import { longSchema } from '../../model/names.js';
import { oneLine } from '../../model/outside.js';
import { type Printable, print } from '../output.js';
import { withSession } from '../session.js';

export function addVerifyToken(program: Command): void {
  program
    .command('verify-token')
    .description('whether a fencing token is the newest, and its leadership goes on: 0 it is, 7 it is not')
    .argument('[token]', 'the token (default: PETREL_FENCING_TOKEN)', wholeToken)
    .addHelpText('after', help)
    .action(async (given: string | undefined, _options: unknown, command: Command) => {
      const token = given ?? tokenOfEnvironment();
      await withSession(command, async ({ access, settings }) => {
        const verdict = await verifyToken(access, BigInt(token));
        print(settings.format, printable(verdict));
        process.exitCode = verdict.valid ? exitCodes.done : exitCodes.leadershipLost;
      });
    });
}

const rule = 'a fencing token is a whole number, as PETREL_FENCING_TOKEN has it';

function wholeToken(text: string): string {
  if (longSchema.safeParse(text).success) return text;
  throw new InvalidArgumentError(`${rule}.`);
}

function tokenOfEnvironment(): string {
  const text = process.env.PETREL_FENCING_TOKEN ?? '';
  if (longSchema.safeParse(text).success) return text;
  throw new PetrelError(
    'INVALID',
    text === '' ? `no token is given: ${rule}` : `PETREL_FENCING_TOKEN: ${rule}`,
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
Exit codes: 0 it is the newest that the group has given, and its leadership goes on; 7 it is not, or nobody leads: whatever
was done under it is over; 3 ZooKeeper is out of reach, so nobody knows: take it for lost. Never the answer of a cache.

What it cannot do: the answer is true of an instant that is over. Between it and the next line of a script anything may
happen, a pause of minutes included. Only a store that compares the token itself, in one step with the write, is safe.

Example:
  petrel verify-token "$PETREL_FENCING_TOKEN" >/dev/null || exit`;
