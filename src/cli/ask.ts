/** Asks the operator for confirmation, if there is a terminal. */
import { createInterface } from 'node:readline/promises';
import { PetrelError } from '../errors.js';
import { oneLine } from '../model/outside.js';
import { widthOf, wrapped } from './layout.js';

export interface ChoiceInput {
  /** The question, in one line that ends with a question mark. */
  readonly question: string;
  /** Facts that the operator should know before answering, one line each. */
  readonly facts?: readonly string[];
  /**
   * Reasons not to proceed, one line each. Without a terminal, the command proceeds only if the list is
   * empty.
   */
  readonly dangers: readonly string[];
}

/**
 * Asks for confirmation. Throws PetrelError REFUSED if the answer is no, or if there are dangers but no
 * terminal.
 */
export async function makeSure(
  { question, facts = [], dangers }: ChoiceInput,
  saidYes: boolean,
): Promise<void> {
  if (saidYes) return;
  if (!isPersonThere()) {
    if (dangers.length === 0) return;
    throw new PetrelError(
      'REFUSED',
      'confirmation required, but stdin is not a terminal; pass --yes to proceed',
      {
        reasons: dangers,
      },
    );
  }
  for (const line of [...facts, ...dangerLines(dangers)]) {
    process.stderr.write(`${wrapped(line, widthOf(process.stderr))}\n`);
  }
  if (await isYes(question)) return;
  throw new PetrelError('REFUSED', 'not confirmed: nothing was changed');
}

/** Formats reasons not to proceed for operators, one line each. A dry run also prints these lines. */
export function dangerLines(dangers: readonly string[]): string[] {
  return dangers.map((danger) => `  ! ${oneLine(danger)}`);
}

export function isPersonThere(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks a yes-or-no question. The end of the input counts as no. */
async function isYes(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  // The terminal is now in raw mode, so ^C arrives here instead of as a signal.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
