/**
 * Determines the ACLs of the znodes that a process creates, based on the options with which it joins a group.
 */
import { accessOptions, checkAgent } from '../config/access-settings.js';
import type { JoinSettings } from './join-options.js';

/** Returns the ACLs. Throws PetrelError INVALID for an ACL that would lock out this process. */
export function joinAccess({ credentials, acl, root }: JoinSettings): ReturnType<typeof accessOptions> {
  const settings = {
    auth: credentials === undefined ? null : `digest:${credentials}`,
    authFile: null,
    aclAgents: acl.agents,
    aclOperators: acl.operators,
    aclObservers: acl.observers,
    aclWorld: acl.world,
  };
  checkAgent(settings);
  return accessOptions(settings, () => root);
}
