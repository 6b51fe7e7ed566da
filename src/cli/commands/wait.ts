/** Defines the command `petrel wait`. */
import type { Command } from 'commander';
import * as z from 'zod';
import { exitCodes } from '../../exit-code.js';
import { awaitTerm, type Outcome } from '../../group/wait.js';
import { wholeNumber } from '../arguments.js';
import { outcomeText, printOutcome, waitOptions } from '../change.js';
import { helpText } from '../help-text.js';
import { isForPeople, type Printable, print } from '../output.js';
import { withSession } from '../session.js';
import { slotOption } from '../slot-option.js';

const optionsSchema = z.object({ term: z.int(), slot: z.int().default(1) });

export function addWait(program: Command): void {
  program
    .command('wait')
    .summary('wait until a term is READY or has failed')
    .description(
      'wait until a term is READY (exit code 0) or has failed (1); exit code 6: still under way when the wait timeout expires',
    )
    .requiredOption(
      '--term <n>',
      'term to wait for, as shown by petrel list or by the command that started the transition',
      wholeNumber(1, Number.MAX_SAFE_INTEGER),
    )
    .addOption(slotOption('slot of the term, in a group with several leaders (default: 1)'))
    .addHelpText('after', helpText('\nExample:\n  petrel wait --term 4 --wait-timeout 2m'))
    .action(async (_options, command: Command) => {
      const { term, slot } = optionsSchema.parse(command.opts());
      await withSession(command, async (session) => {
        const outcome = await awaitTerm(session.access, term, { ...waitOptions(session), slot });
        if (isForPeople(session.settings.format)) await printOutcome(session, outcome, slot);
        else print(session.settings.format, printable(outcome));
        process.exitCode = outcome.state === 'READY' ? exitCodes.done : exitCodes.failed;
      });
    });
}

function printable(outcome: Outcome): Printable {
  const { term, state, node, reason } = outcome;
  return {
    json: outcome,
    rows: [
      ['term', 'state', 'node', 'reason'],
      [String(term), state, node ?? '-', reason],
    ],
    pretty: () => outcomeText(outcome),
  };
}
