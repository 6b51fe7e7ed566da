/** Determines the purpose of a write from its operations. */

import type { Operation } from '../../src/embedded/tree.js';
import type { GroupPaths } from '../../src/model/paths.js';
import type { Written } from './faults.js';

export function isOfKind(operations: readonly Operation[], kind: Written, paths: GroupPaths): boolean {
  const does = (type: Operation['type'], path: string) =>
    operations.some((operation) => operation.type === type && operation.path.startsWith(path));
  switch (kind) {
    case 'registration':
      return does('create', `${paths.nodes}/`);
    case 'seat':
      return does('create', `${paths.election}/`);
    case 'claim':
      return does('create', paths.current);
    case 'READY':
      return does('setData', paths.current);
    case 'deletion':
      return does('delete', paths.current);
    case 'decision':
      return does('setData', paths.elected);
    case 'configuration':
      return does('setData', paths.config);
    case 'record':
      return does('create', paths.historyPrefix);
    case 'removal':
      return does('delete', paths.current) && does('delete', `${paths.election}/`);
  }
}
