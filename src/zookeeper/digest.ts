/** The scheme `digest`: a client proves its identity with a user name and a password. */
import { createHash } from 'node:crypto';
import type { Identity } from '../model/acl.js';

/**
 * Returns the identity that `user:password` proves. Unsalted SHA-1 is ZooKeeper's choice: a short password
 * can be guessed from it.
 */
export function digestIdentity(credentials: string): Identity {
  const user = credentials.split(':', 1)[0] ?? '';
  const digest = createHash('sha1').update(credentials).digest('base64');
  return { scheme: 'digest', id: `${user}:${digest}` };
}
