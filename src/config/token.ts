/** Bearer token of an agent's HTTP interface: its syntax, and the file that contains the token. */
import { PetrelError } from '../errors.js';
import { readSecretText } from './secret-file.js';

/** Pattern of a bearer token. RFC 6750 allows these characters. */
export const tokenPattern = /^[A-Za-z0-9._~+/-]{16,512}=*$/;
export const tokenRule =
  'expected a token of 16 to 512 letters, digits, or . _ ~ + / -, for example from `openssl rand -hex 32`';

/**
 * Reads a token. Throws PetrelError INVALID if the file cannot be read, is open to others, or contains no
 * token. The error never shows the content.
 */
export function readTokenFile(path: string): string {
  const token = readSecretText('http.tokenFile', path).trim();
  if (!tokenPattern.test(token)) {
    throw new PetrelError('INVALID', `http.tokenFile: ${path} contains no token: ${tokenRule}`);
  }
  return token;
}
