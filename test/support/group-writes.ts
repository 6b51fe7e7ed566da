/** The writes of a group's znodes, as the development server commits them. */
import type { DevelopmentServer } from '../../src/testing.js';
import type { Group } from './agent-group.js';

/**
 * Returns a list that grows with each transaction from now on. Each transaction's operations are described as
 * `type path`. Checks, lease renewals and ends of sessions are left out.
 */
export function writesFromNowOn(server: DevelopmentServer, group: Group): string[][] {
  const writes: string[][] = [];
  server.onCommit(({ operations, endsSession }) => {
    const made = operations.filter(({ type }) => type !== 'check');
    if (made.length > 0 && endsSession === null)
      writes.push(made.map(({ type, path }) => `${type} ${path.slice(group.root.length + 1)}`));
  });
  return writes;
}
