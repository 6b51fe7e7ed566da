/** ZooKeeper's rules for paths. They are checked here to give clearer messages than ZooKeeper's. */
import { Failure } from './failure.js';

/** @throws Failure BAD_ARGUMENTS if the path breaks a rule. */
export function checkPath(path: string): void {
  const problem = problemOfPath(path);
  if (problem) throw Failure.of('BAD_ARGUMENTS', `the path ${problem}`);
}

function problemOfPath(path: string): string | undefined {
  if (typeof path !== 'string' || !path.startsWith('/')) return 'must start with a slash';
  if (path === '/') return undefined;
  if (path.includes('\0')) return 'must not contain a null character';
  for (const name of path.slice(1).split('/')) {
    if (name === '') return 'must not contain an empty name (extra slash?)';
    if (name === '.' || name === '..') return `must not contain "${name}": use an absolute path`;
  }
  return undefined;
}
