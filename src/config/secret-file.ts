/** Files that hold a secret: a token, a password, a passphrase. */
import { readFileSync, statSync } from 'node:fs';
import { PetrelError } from '../errors.js';

/**
 * A group may read it, as a service's own group does; nobody else may, and none but the owner may write it.
 */
const forbiddenMode = 0o027;

/**
 * Reads the file's one line, without the line break at its end. Throws PetrelError INVALID when the file
 * holds more, cannot be read, or is open to others; the error never shows the content. `key` is the setting
 * that names the file.
 */
export function readSecretText(key: string, path: string): string {
  const { mode, text } = read(key, path);
  if (isOpenToOthers(mode)) {
    const octal = (mode & 0o777).toString(8).padStart(4, '0');
    throw new PetrelError(
      'INVALID',
      `${key}: other users can access ${path} (mode ${octal}): run chmod 600 ${path}`,
    );
  }
  const secret = text.replace(/\r?\n$/, '');
  // Earlier versions took it for a part of the secret: silence would make it another one.
  if (/[\r\n]$/.test(secret))
    throw new PetrelError('INVALID', `${key}: ${path} ends with an empty line: remove the empty line`);
  if (/[\r\n]/.test(secret)) throw new PetrelError('INVALID', `${key}: ${path} contains more than one line`);
  return secret;
}

export function isOpenToOthers(mode: number): boolean {
  return (mode & forbiddenMode) !== 0;
}

function read(key: string, path: string): { readonly mode: number; readonly text: string } {
  try {
    return { mode: statSync(path).mode, text: readFileSync(path, 'utf8') };
  } catch (error) {
    throw new PetrelError('INVALID', `${key}: cannot read ${path}`, { cause: error });
  }
}
