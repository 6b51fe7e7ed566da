/** ZooKeeper's rules for znode paths. */

import { ZooKeeperError } from './errors.js';

/** Ranges of UTF-16 units that ZooKeeper rejects in a path. */
const forbidden: readonly (readonly [number, number])[] = [
  [0x0000, 0x001f],
  [0x007f, 0x009f],
  [0xd800, 0xf8ff],
  [0xfff0, 0xffff],
];

function isForbidden(unit: number): boolean {
  return forbidden.some(([first, last]) => unit >= first && unit <= last);
}

export function validatePath(path: string): void {
  if (!isValid(path)) throw new ZooKeeperError('BAD_ARGUMENTS', path);
}

function isValid(path: string): boolean {
  if (path === '/') return true;
  if (!path.startsWith('/') || path.endsWith('/')) return false;
  const names = path.split('/').slice(1);
  if (names.some((name) => name === '' || name === '.' || name === '..')) return false;
  for (let index = 0; index < path.length; index++) {
    if (isForbidden(path.charCodeAt(index))) return false;
  }
  return true;
}

/**
 * Returns the parent's path. For a child of the root, this is the empty string. Performs only the checks that
 * ZooKeeper performs here.
 */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  if (slash === -1 || path.includes('\0')) throw new ZooKeeperError('BAD_ARGUMENTS', path);
  return path.slice(0, slash);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Yields a path's ancestors, nearest first, up to the root. */
export function* ancestorsOf(path: string): Generator<string> {
  for (let at = path; at !== '/' && at !== ''; ) {
    at = at.slice(0, at.lastIndexOf('/')) || '/';
    yield at;
  }
}

/**
 * Formats a sequence number as ZooKeeper appends it to a path: a signed 32-bit counter in Java's format
 * `%010d`.
 */
export function formatSequence(counter: number): string {
  return counter < 0 ? `-${String(-counter).padStart(9, '0')}` : String(counter).padStart(10, '0');
}
