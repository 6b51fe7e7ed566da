/** Reads files that contain a secret: a token, a password, or a passphrase. */
import { readFileSync, statSync } from 'node:fs';
import { PetrelError } from '../errors.js';

/**
 * Permissions that a secret file must not have. The file's group may read it, because a service may have its
 * own group. All other users must have no access, and only the owner may write to the file.
 */
const forbiddenMode = 0o027;

/**
 * Reads the file's only line, without the line break at its end. `key` is the setting that names the file.
 * Throws PetrelError INVALID if the file contains more than one line, cannot be read, or is open to others.
 * The error never shows the content.
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
  // Reject the file. Earlier versions treated an extra line break as part of the secret, so ignoring the line
  // break would silently change the secret.
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
