/**
 * Access to a group's znodes for three roles. Agents have all rights. Operators have the rights that the
 * commands for changing a group need. Observers may only read.
 */
import { type Acl, type AclEntry, type Identity, permissions, toAnyone } from './acl.js';
import type { GroupPaths } from './paths.js';

export const worldRights = ['none', 'read', 'all'] as const;

export interface Access {
  readonly agents: readonly Identity[];
  readonly operators: readonly Identity[];
  readonly observers: readonly Identity[];
  /**
   * Rights of every client. Use `all` during a migration to ACLs, as long as some of the group's agents do
   * not support ACLs yet.
   */
  readonly world: (typeof worldRights)[number];
}

/**
 * Returns the ACL of a znode of the group, or of an ancestor of the group's root. For a sequential znode,
 * `path` omits the sequence number.
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
 * Returns the rights that an operator has in addition to reading. Operators change the configuration, record
 * that change in the history, read the ensemble's clock with a write, and remove the znodes of an evicted
 * node. They neither elect nor claim, so they have no right to write the content of the election's znodes.
 */
function operatorRights(paths: GroupPaths, path: string): number {
  const { config, clock, history, nodes, election, leader } = paths;
  if (path === config || path === clock) return permissions.write;
  if (path === history) return permissions.create;
  return [nodes, election, leader].includes(path) ? permissions.delete : 0;
}
