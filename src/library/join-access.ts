/** Determines the ACLs of the znodes that a process creates, from the options with which it joins. */
import { accessOptions, checkAgent } from '../config/access-settings.js';
import type { JoinSettings } from './join-options.js';

/** Returns the ACLs. Throws PetrelError INVALID for an ACL that would lock this process out. */
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
