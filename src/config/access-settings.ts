/** Settings for this process's identity in ZooKeeper, and for the ACLs of the znodes that it creates. */
import * as z from 'zod';
import { PetrelError } from '../errors.js';
import { type Access, aclOf, worldRights } from '../model/access.js';
import type { Identity } from '../model/acl.js';
import { groupPaths } from '../model/paths.js';
import { digestIdentity } from '../zookeeper/digest.js';
import type { StoreOptions } from '../zookeeper/index.js';
import { readSecretText } from './secret-file.js';
import { optionalPath, setting } from './setting.js';

const authPattern = /^digest:[^:\r\n]+:[^\r\n]+$/;
const authRule = 'expected digest:USER:PASSWORD on one line';
const identityRule = 'expected USER:DIGEST, as petrel acl digest prints it';
const maxIdentities = 32;

function identities(role: string, what: string) {
  const identity = z.string(identityRule).regex(/^[^:,\s]+:[A-Za-z0-9+/]{27}=$/, identityRule);
  return setting(
    z
      .array(identity, identityRule)
      .max(maxIdentities, `expected at most ${maxIdentities} identities`)
      .prefault([]),
    {
      key: `acl.${role}`,
      env: `PETREL_ACL_${role.toUpperCase()}`,
      help: `${what}, each USER:DIGEST; in the variable, separated by commas`,
      fromText: (texts) => texts.map((text) => text.trim()).filter((text) => text !== ''),
      separator: ',',
    },
  );
}

export const accessFields = {
  auth: setting(z.string(authRule).regex(authPattern, authRule).nullable().prefault(null), {
    key: 'auth',
    env: 'PETREL_AUTH',
    help: 'ZooKeeper credentials, digest:USER:PASSWORD, instead of authFile',
    secret: true,
  }),
  authFile: setting(optionalPath(), {
    key: 'authFile',
    flags: '--auth-file <file>',
    env: 'PETREL_AUTH_FILE',
    help: 'file with ZooKeeper credentials, digest:USER:PASSWORD; mode 0600',
    isPath: true,
    isFile: true,
  }),
  aclAgents: identities('agents', 'identities with all rights on the group’s znodes'),
  aclOperators: identities('operators', 'identities that may change the group with commands'),
  aclObservers: identities('observers', 'identities that may read the group'),
  aclWorld: setting(z.enum(worldRights, `expected one of ${worldRights.join(', ')}`).prefault('none'), {
    key: 'acl.world',
    env: 'PETREL_ACL_WORLD',
    help: `rights of all other clients in a group with ACLs: ${worldRights.join(', ')}`,
  }),
};

export type AccessSettings = {
  readonly [Name in keyof typeof accessFields]: z.output<(typeof accessFields)[Name]>;
};

/**
 * Returns `USER:PASSWORD`, or null if no credentials are set. Throws PetrelError INVALID for an unusable
 * file.
 */
export function credentialsOf({ auth, authFile }: AccessSettings): string | null {
  const text = auth ?? (authFile === null ? null : readSecretText('authFile', authFile));
  if (text === null) return null;
  if (authPattern.test(text)) return text.slice('digest:'.length);
  throw new PetrelError('INVALID', `authFile: ${authFile} contains no credentials: ${authRule}`);
}

/** Returns the identity of this process, or null if it has none. Throws whatever `credentialsOf` throws. */
export function identityOf(settings: AccessSettings): Identity | null {
  const credentials = credentialsOf(settings);
  return credentials === null ? null : digestIdentity(credentials);
}

/**
 * Returns the access rights for a group, or null if new znodes are open to every client. `own` is the
 * identity of this process. If the settings name no agents, this process is the only agent. Throws whatever
 * `credentialsOf` throws.
 */
export function accessOf(settings: AccessSettings, own = identityOf(settings)): Access | null {
  const { aclAgents, aclOperators, aclObservers, aclWorld: world } = settings;
  const agents = aclAgents.length > 0 || own === null ? aclAgents.map(toIdentity) : [own];
  if (agents.length === 0) return null;
  return {
    agents,
    operators: aclOperators.map(toIdentity),
    observers: aclObservers.map(toIdentity),
    world,
  };
}

/** Whether the settings say who may access the group. */
export function hasAclSettings({ aclAgents, aclOperators, aclObservers, aclWorld }: AccessSettings): boolean {
  return aclAgents.length + aclOperators.length + aclObservers.length > 0 || aclWorld !== 'none';
}

/**
 * Throws PetrelError INVALID if the settings do not list this process as an agent. Such a process would lock
 * itself out of the znodes that it creates.
 */
export function checkAgent(settings: AccessSettings): void {
  const own = identityOf(settings);
  const access = accessOf(settings, own);
  const asks = access !== null || settings.aclOperators.length + settings.aclObservers.length > 0;
  if (asks && own === null) {
    throw new PetrelError(
      'INVALID',
      'acl: an agent with acl settings also needs its own credentials: set authFile or PETREL_AUTH (in the library: credentials)',
    );
  }
  if (access === null || access.agents.some(({ id }) => id === own?.id)) return;
  const right = 'the agent would lock itself out';
  throw new PetrelError(
    'INVALID',
    `acl.agents: this agent’s credentials (user and password) are not listed: ${right}`,
  );
}

/**
 * Returns the options for a store. For a process in several groups, `rootOf` returns the root of the group
 * that a path belongs to. Throws whatever `credentialsOf` throws.
 */
export function accessOptions(
  settings: AccessSettings,
  rootOf: (path: string) => string,
): Pick<StoreOptions, 'auth' | 'acl'> {
  const credentials = credentialsOf(settings);
  const access = accessOf(settings, credentials === null ? null : digestIdentity(credentials));
  return {
    ...(credentials === null ? {} : { auth: [{ scheme: 'digest', credentials }] }),
    ...(access === null ? {} : { acl: (path) => aclOf(access, groupPaths(rootOf(path)), path) }),
  };
}

function toIdentity(id: string): Identity {
  return { scheme: 'digest', id };
}
