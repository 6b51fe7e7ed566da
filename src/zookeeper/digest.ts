/** The scheme `digest`: whoever knows user and password is who they name. */
import { createHash } from 'node:crypto';
import type { Identity } from '../model/acl.js';

/**
 * The identity that proving `user:password` gives. SHA-1, unsalted, is ZooKeeper's choice: a short password
 * can be guessed from it.
 */
export function digestIdentity(credentials: string): Identity {
  const user = credentials.split(':', 1)[0] ?? '';
  const digest = createHash('sha1').update(credentials).digest('base64');
  return { scheme: 'digest', id: `${user}:${digest}` };
}
