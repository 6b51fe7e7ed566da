/** Asking the person at the terminal, where there is one. */
import { createInterface } from 'node:readline/promises';
import { PetrelError } from '../errors.js';
import { oneLine } from '../model/outside.js';

export interface ChoiceInput {
  /** One line, ending in a question mark. */
  readonly question: string;
  /** One line each: what a person should know before answering. */
  readonly facts?: readonly string[];
  /**
   * One line each: what speaks against it. Without a person to ask, these are reasons to refuse; with none,
   * it goes on.
   */
  readonly dangers: readonly string[];
}

/** Throws PetrelError REFUSED when the answer is no, or when there is danger and nobody to ask. */
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
  for (const fact of facts) process.stderr.write(`${fact}\n`);
  for (const danger of dangers) process.stderr.write(`  ! ${oneLine(danger)}\n`);
  if (await isYes(question)) return;
  throw new PetrelError('REFUSED', 'not confirmed: nothing was changed');
}

export function isPersonThere(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** The end of the input is a no. */
async function isYes(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  // The terminal is in raw mode meanwhile: ^C arrives here, not as a signal.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
