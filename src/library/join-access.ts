/** Who may do what to the znodes that a process makes, by the options that it joins with. */
import { accessOptions, checkAgent } from '../config/access-settings.js';
import type { JoinSettings } from './join-options.js';

/** Throws PetrelError INVALID for an ACL that would lock this process out. */
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
