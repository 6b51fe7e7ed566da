/**
 * The writes by which a node claims, says READY, and gives its claim away. Each is one multi: it checks the
 * node's seat, names the versions that it was decided by, and writes the node's registration with the rest.
 */

import type { GroupPaths } from '../../model/paths.js';
import type { Registration } from '../../model/registration.js';
import type { Claim } from '../../model/snapshot.js';
import type { ClaimContent } from '../../model/znodes.js';
import type { Operation, OperationResult, Stat, Store } from '../../ports/store.js';
import { withRoom } from '../../tree/history-room.js';
import { ifStillTrue } from '../conditional-write.js';
import { checkSeat, encode } from '../membership.js';

export interface Claimant {
  /** Of the slot. */
  readonly paths: GroupPaths;
  readonly seat: string;
  readonly registration: Registration;
}

/** Of a claim by this life of a node. */
export function claimContent(
  { node, site, incarnation }: Pick<ClaimContent, 'node' | 'site' | 'incarnation'>,
  said: Omit<ClaimContent, 'node' | 'site' | 'incarnation'>,
): ClaimContent {
  return { node, site, incarnation, ...said };
}

/**
 * The last of the results has the zxid that all of them have: the fencing token.
 * Null: what it was decided on no longer holds.
 */
export async function claim(
  store: Store,
  claimant: Claimant,
  electedVersion: number,
  content: ClaimContent,
): Promise<OperationResult[] | null> {
  const { paths } = claimant;
  const operations: Operation[] = [
    checkSeat(paths, claimant.seat),
    { type: 'check', path: paths.elected, version: electedVersion },
    { type: 'create', path: paths.current, data: encode(content), mode: 'ephemeral' },
    registering(claimant),
  ];
  return await ifStillTrue(() => withRoom(store, paths, () => store.multi(operations)));
}

/**
 * Every operation of a multi has the same zxid: the one that created `current`, its fencing token. `stat`: of
 * the last.
 */
export function claimMade(value: ClaimContent, { mzxid: token, mtimeMs }: Stat, owner: bigint): Claim {
  return { value, problem: null, version: 0, modifiedAtMs: mtimeMs, createdAtMs: mtimeMs, token, owner };
}

export function sayingReady(
  claimant: Claimant,
  { electedVersion, claimVersion }: { readonly electedVersion: number; readonly claimVersion: number },
  content: ClaimContent,
): Operation[] {
  const { paths } = claimant;
  return [
    checkSeat(paths, claimant.seat),
    { type: 'check', path: paths.elected, version: electedVersion },
    { type: 'set', path: paths.current, data: encode(content), version: claimVersion },
    registering(claimant),
  ];
}

export function givingAway(claimant: Claimant, claimVersion: number): Operation[] {
  const { paths } = claimant;
  return [
    checkSeat(paths, claimant.seat),
    { type: 'delete', path: paths.current, version: claimVersion },
    registering(claimant),
  ];
}

function registering({ paths, registration }: Claimant): Operation {
  return { type: 'set', path: paths.node(registration.node), data: encode(registration), version: 'any' };
}
