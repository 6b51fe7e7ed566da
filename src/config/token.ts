/** The bearer token of an agent's HTTP interface: what makes one, and the file that holds it. */
import { PetrelError } from '../errors.js';
import { readSecretText } from './secret-file.js';

/** What RFC 6750 lets a bearer token hold. */
export const tokenPattern = /^[A-Za-z0-9._~+/-]{16,512}=*$/;
export const tokenRule =
  'expected a token of 16 to 512 letters, digits, or . _ ~ + / -, for example from `openssl rand -hex 32`';

/**
 * Throws PetrelError INVALID when the file cannot be read, is open to others, or holds no token. Never tells
 * what it holds.
 */
export function readTokenFile(path: string): string {
  const token = readSecretText('http.tokenFile', path).trim();
  if (!tokenPattern.test(token)) {
    throw new PetrelError('INVALID', `http.tokenFile: ${path} contains no token: ${tokenRule}`);
  }
  return token;
}
