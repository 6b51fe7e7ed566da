/** The bearer token of an agent's HTTP interface: what makes one, and the file that holds it. */
import { readFileSync, statSync } from 'node:fs';
import { PetrelError } from '../errors.js';

/** What RFC 6750 lets a bearer token hold. */
export const tokenPattern = /^[A-Za-z0-9._~+/-]{16,512}=*$/;
export const tokenRule =
  'a token has 16 to 512 letters, digits or . _ ~ + / -, as `openssl rand -hex 32` writes it';

const othersMayRead = 0o077;

/** Throws PetrelError INVALID when the file cannot be read, is open to others, or holds no token. Never tells what it holds. */
export function readTokenFile(path: string): string {
  const { mode, text } = read(path);
  if ((mode & othersMayRead) !== 0) {
    const octal = (mode & 0o777).toString(8).padStart(4, '0');
    throw invalid(`${path} is open to others, its mode is ${octal}: chmod 600 ${path}`);
  }
  const token = text.trim();
  if (!tokenPattern.test(token)) throw invalid(`${path} holds no token: ${tokenRule}`);
  return token;
}

function read(path: string): { readonly mode: number; readonly text: string } {
  try {
    return { mode: statSync(path).mode, text: readFileSync(path, 'utf8') };
  } catch (error) {
    throw new PetrelError('INVALID', `http.tokenFile: ${path} cannot be read`, { cause: error });
  }
}

function invalid(problem: string): PetrelError {
  return new PetrelError('INVALID', `http.tokenFile: ${problem}`);
}
