/** Error messages of commands, and their exit codes. Scripts rely on the codes. */
import { CommanderError } from 'commander';
import { PetrelError, type PetrelErrorCode, type Remedy } from '../errors.js';
import { exitCodes } from '../exit-code.js';
import { asPetrelError, type Failure, failureReport } from '../group/failure.js';
import { oneLine, visibleJson } from '../model/outside.js';
import { StoreError } from '../ports/store.js';
import { widthOf, wrapped } from './layout.js';
import { styled } from './style.js';

const codeOf: Readonly<Record<PetrelErrorCode, number>> = {
  INVALID: exitCodes.usage,
  UNREACHABLE: exitCodes.unreachable,
  FORBIDDEN: exitCodes.forbidden,
  REFUSED: exitCodes.refused,
  CONFLICT: exitCodes.refused,
  DUPLICATE_NODE: exitCodes.failed,
  UNDER_WAY: exitCodes.underWay,
  LEADERSHIP_LOST: exitCodes.leadershipLost,
  FAILED: exitCodes.failed,
};

/** Error that ends a command after ^C or SIGTERM. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return exitCodes.usage;
  if (error instanceof Interrupted) return exitCodes.interrupted;
  return codeOf[asPetrelError(error).code];
}

/** Whether the error can occur in a program without defects. */
export function isForeseen(error: unknown): boolean {
  return [CommanderError, Interrupted, PetrelError, StoreError].some((known) => error instanceof known);
}

/** Writes the error to stderr. With `-f json`, the output is one line that matches `failureSchema`. */
export function reportError(error: unknown, format: unknown): void {
  const { code, message, reasons } = describeError(error);
  if (format === 'json') {
    process.stderr.write(`${visibleJson(JSON.stringify({ error: { code, message, reasons } }))}\n`);
    return;
  }
  const listed = reasons.filter((reason) => !message.includes(reason));
  // Replace control characters, because reasons quote data that any ZooKeeper client may have written.
  const lines = [
    `${styled('red', 'petrel:', process.stderr)} ${message.split('\n').map(oneLine).join('\n')}`,
    ...listed.map((reason) => `  - ${oneLine(reason)}`),
  ];
  process.stderr.write(`${wrapped(lines.join('\n'), widthOf(process.stderr))}\n`);
}

function describeError(error: unknown): Failure['error'] {
  if (error instanceof Interrupted) return { code: 'INTERRUPTED', message: error.message, reasons: [] };
  if (error instanceof CommanderError) {
    return { code: 'INVALID', message: error.message.replace(/^error: /, ''), reasons: [] };
  }
  return failureReport(asPetrelError(error), remedyText);
}

function remedyText(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'yes':
      return `pass --yes to ${remedy.does}`;
    case 'unknown':
      return `pass --allow-unknown to ${remedy.does}`;
    case 'slot':
      return 'pass --slot';
    case 'cancel':
      return 'to cancel it: petrel switchover --cancel';
    case 'root':
      return 'check the root path (--root, PETREL_ROOT)';
    case 'state-dir':
      return 'choose another with --state-dir or PETREL_STATE_DIR';
    case 'credentials':
      return credentialsText(remedy.refused);
  }
}

function credentialsText(refused: readonly string[]): string {
  const rights = 'petrel acl show lists the rights';
  if (refused.length === 0) return `pass credentials with --auth-file or PETREL_AUTH; ${rights}`;
  const who = refused.join(', ');
  return `${who} may not do this, or the password is wrong: pass an operator’s credentials with --auth-file or PETREL_AUTH; ${rights}`;
}
