/** Authentication scheme `digest`: a client proves its identity with a user name and a password. */
import { createHash } from 'node:crypto';
import type { Identity } from '../model/acl.js';

/**
 * Returns the identity that `user:password` proves. ZooKeeper uses unsalted SHA-1, so an attacker can guess a
 * short password from the identity.
 */
export function digestIdentity(credentials: string): Identity {
  const user = credentials.split(':', 1)[0] ?? '';
  const digest = createHash('sha1').update(credentials).digest('base64');
  return { scheme: 'digest', id: `${user}:${digest}` };
}
