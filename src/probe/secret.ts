/** The secret of a group's probes. It comes from a file or the environment alone, and is never shown. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { errorMessage, PetrelError } from '../errors.js';

const rule = 'a secret has 16 to 1024 characters';
export const probeSecretSchema = z.string(rule).min(16, rule).max(1024, rule);

/** A line break at its end is not part of it. Throws PetrelError INVALID, which does not tell what the file holds. */
export function readSecretFile(path: string): string {
  const wrong = (what: string) => new PetrelError('INVALID', `probe.secretFile: ${path}: ${what}`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw wrong(errorMessage(error));
  }
  const secret = probeSecretSchema.safeParse(text.replace(/\r?\n$/, ''));
  if (!secret.success) throw wrong(`${rule}, and the file has another number of them`);
  return secret.data;
}
