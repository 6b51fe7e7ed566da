/** ZooKeeper's rules for paths, as far as they are worth a clearer message than its own. */
import { Failure } from './failure.js';

/** @throws Failure BAD_ARGUMENTS */
export function checkPath(path: string): void {
  const problem = problemOfPath(path);
  if (problem) throw Failure.of('BAD_ARGUMENTS', `the path ${problem}`);
}

function problemOfPath(path: string): string | undefined {
  if (typeof path !== 'string' || !path.startsWith('/')) return 'must start with a slash';
  if (path === '/') return undefined;
  if (path.includes('\0')) return 'has a null character in it';
  for (const name of path.slice(1).split('/')) {
    if (name === '') return 'has an empty name in it (a slash too many?)';
    if (name === '.' || name === '..') return `has "${name}" in it; only absolute paths will do`;
  }
  return undefined;
}
