/**
 * A file that contains the greatest fencing tokens that a node has seen in one group. It is in the node's
 * state directory. Unlike the session file, it is kept when the agent ends, because the tokens must survive a
 * restart.
 */
import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { errorMessage, PetrelError } from '../../errors.js';
import { mostLeaders } from '../../model/group-config.js';
import { longSchema, parseJson } from '../../model/names.js';
import type { SeenTokens } from '../../slots/seen-tokens.js';
import { makeDirectory, textOf } from '../session/session-file.js';
import type { TokenStore } from './token-memory.js';

const slotSchema = z.coerce.number().pipe(z.int().min(1).max(mostLeaders));
const fileSchema = z.object({
  tokenEpoch: z.int().min(0),
  /** Greatest token in each slot. */
  greatest: z.record(z.string(), longSchema),
});

export function tokenPath(stateDir: string, root: string, node: string): string {
  return join(stateDir, encodeURIComponent(root.slice(1)), `${node}.tokens.json`);
}

export class TokenFile implements TokenStore {
  readonly path: string;
  readonly earlier: SeenTokens | null;

  private constructor(path: string, earlier: SeenTokens | null) {
    this.path = path;
    this.earlier = earlier;
  }

  /**
   * Opens the file. Throws PetrelError FAILED if it cannot be read or parsed. A node that has forgotten its
   * tokens could lead with a token that stores reject. A restart succeeds once the file is fixed or deleted.
   */
  static open(stateDir: string, root: string, node: string): TokenFile {
    const path = tokenPath(stateDir, root, node);
    return new TokenFile(path, readTokens(path));
  }

  /** Writes the tokens to the file. Rejects with the file system's error. */
  async write({ epoch, bySlot }: SeenTokens): Promise<void> {
    const greatest = Object.fromEntries([...bySlot].map(([slot, token]) => [slot, String(token)]));
    makeDirectory(dirname(this.path));
    const next = `${this.path}.next`;
    const file = await open(next, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify({ tokenEpoch: epoch, greatest }));
      // Without a sync, a power failure could leave the file's name without its content.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, this.path);
  }
}

/** Returns the tokens in the file, or null if there is no file. Throws PetrelError FAILED. */
export function readTokens(path: string): SeenTokens | null {
  try {
    const text = textOf(path);
    return text === null ? null : parseTokens(text);
  } catch (cause) {
    const remedy =
      'if the fencing tokens of this group have never decreased, delete the file (docs/guides/fencing.md)';
    const message = `cannot read ${path} (the greatest fencing tokens seen): ${errorMessage(cause)}: ${remedy}`;
    throw new PetrelError('FAILED', message, { cause });
  }
}

function parseTokens(text: string): SeenTokens {
  const { value, problem } = parseJson(fileSchema, text);
  if (value === null) throw new Error(problem);
  const entries = Object.entries(value.greatest).map(([slot, token]): [number, bigint] => [
    slotSchema.parse(slot),
    BigInt(token),
  ]);
  return { epoch: value.tokenEpoch, bySlot: new Map(entries) };
}
