/** Reads text for a command from a file or from stdin. */
import { readFile } from 'node:fs/promises';
import { errorMessage, PetrelError } from '../errors.js';

/** Reads a file, or stdin if `file` is `-`. Throws PetrelError INVALID. */
export async function readText(file: string): Promise<string> {
  try {
    return file === '-' ? await readStdin() : await readFile(file, 'utf8');
  } catch (error) {
    throw new PetrelError('INVALID', `cannot read ${file}: ${errorMessage(error)}`, { cause: error });
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
