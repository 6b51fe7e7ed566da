/**
 * Credentials of agents and operators in a group with ACLs. Passwords are numbered, because an administrator
 * replaces one by the next.
 */
import { type Access, aclOf } from '../../src/model/access.js';
import type { GroupPaths } from '../../src/model/paths.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';
import type { StoreOptions } from '../../src/zookeeper/index.js';

/** What an agent's settings say about access. */
export interface Credentials {
  /** Number of the agent's own password. */
  readonly own: number;
  /** Numbers of the passwords whose identities `acl.agents` lists. */
  readonly accepted: readonly number[];
}

export const firstCredentials: Credentials = { own: 0, accepted: [0] };
const operators = 'ops:operators';

export function passwordOf({ own }: Credentials): string {
  return `petrel:${own}`;
}

/** Returns the access that these settings give. Clients without credentials, such as the judge, may read. */
export function accessBy({ accepted }: Credentials): Access {
  return {
    agents: accepted.map((own) => digestIdentity(passwordOf({ own, accepted }))),
    operators: [digestIdentity(operators)],
    observers: [],
    world: 'read',
  };
}

export type StoreAccess = Pick<StoreOptions, 'auth' | 'acl'>;

export function asAgent(credentials: Credentials, paths: GroupPaths): StoreAccess {
  return as(passwordOf(credentials), credentials, paths);
}

export function asOperator(credentials: Credentials, paths: GroupPaths): StoreAccess {
  return as(operators, credentials, paths);
}

function as(password: string, credentials: Credentials, paths: GroupPaths): StoreAccess {
  const access = accessBy(credentials);
  return {
    auth: [{ scheme: 'digest', credentials: password }],
    acl: (path) => aclOf(access, paths, path),
  };
}
