/**
 * Who may do what to the znodes of a group, by three roles: agents may do everything; operators what the
 * commands do that change a group; observers read.
 */
import { type Acl, type AclEntry, type Identity, permissions, toAnyone } from './acl.js';
import type { GroupPaths } from './paths.js';

export const worldRights = ['none', 'read', 'all'] as const;

export interface Access {
  readonly agents: readonly Identity[];
  readonly operators: readonly Identity[];
  readonly observers: readonly Identity[];
  /**
   * Anybody at all. `all` is for a group on its way to ACLs, while some of its agents do not know them yet.
   */
  readonly world: (typeof worldRights)[number];
}

/**
 * The ACL of a znode of the group, or of one above it. That of a sequential one goes by its path without the
 * number.
 */
export function aclOf(access: Access, paths: GroupPaths, path: string): Acl {
  const operators = permissions.read | operatorRights(paths, path);
  return [
    ...entries(access.agents, permissions.all),
    ...entries(access.operators, operators),
    ...entries(access.observers, permissions.read),
    ...(access.world === 'none' ? [] : [toAnyone(worldPermissions[access.world])]),
  ];
}

const worldPermissions = { read: permissions.read, all: permissions.all } as const;

function entries(identities: readonly Identity[], allowed: number): AclEntry[] {
  return identities.map((identity) => ({ permissions: allowed, identity }));
}

/**
 * Beside reading. They change the configuration, add a record of that to the history, read the ensemble's
 * clock by a write, and remove what an evicted node has left. They neither elect nor claim: of the election
 * they write nothing.
 */
function operatorRights(paths: GroupPaths, path: string): number {
  const { config, clock, history, nodes, election, leader } = paths;
  if (path === config || path === clock) return permissions.write;
  if (path === history) return permissions.create;
  return [nodes, election, leader].includes(path) ? permissions.delete : 0;
}
