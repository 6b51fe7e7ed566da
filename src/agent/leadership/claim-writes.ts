/**
 * The writes with which a node makes its claim, reports READY, and releases the claim. Each write is one
 * multi. The multi checks the node's seat and the versions that the write depends on, and includes the node's
 * registration.
 */

import type { GroupPaths } from '../../model/paths.js';
import type { Registration } from '../../model/registration.js';
import type { Claim } from '../../model/snapshot.js';
import type { ClaimContent } from '../../model/znodes.js';
import {
  isStoreError,
  type Operation,
  type OperationResult,
  type Stat,
  type Store,
} from '../../ports/store.js';
import { withRoom } from '../../tree/history-room.js';
import { ifStillTrue } from '../conditional-write.js';
import { checkSeat, encode } from '../membership.js';

export interface Claimant {
  /** The slot's paths. */
  readonly paths: GroupPaths;
  readonly seat: string;
  readonly registration: Registration;
}

/**
 * The claim of an elector that elects its own node. It is written together with the decision, so that no
 * second write is needed before the takeover. The result is the same as that of a claim after the decision.
 *
 * Not promised: that an elector which elects its own node always claims in this way. It decides first, and
 * claims later, if it has to wait for anything else.
 */
export interface ClaimWithDecision {
  readonly content: ClaimContent;
  /** This node's registration as it is written with the claim. */
  readonly registration: Registration;
  /**
   * Begins the leadership once the claim is written. `stat` belongs to a znode that the same multi has set.
   * Not called if the claim was not written, or if the reply was lost. In both cases, the node continues to
   * report the failure to which the decision responds. If the claim was written, the node finds it when it
   * reads the group.
   */
  begin(stat: Stat): Promise<Claim>;
}

/** Returns the content of a claim by this incarnation of a node. */
export function claimContent(
  { node, site, incarnation }: Pick<ClaimContent, 'node' | 'site' | 'incarnation'>,
  said: Omit<ClaimContent, 'node' | 'site' | 'incarnation'>,
): ClaimContent {
  return { node, site, incarnation, ...said };
}

/** Options for a claim that may be based on an assumption instead of a read. */
export interface ClaimOptions {
  readonly assumedFrom: number | undefined;
  onRefused(): void;
}

/**
 * Writes the claim. Returns null if its conditions no longer hold. Calls `onRefused` if it is known that
 * nothing was written. If the node has only assumed from the published successor that it is elected,
 * `assumedFrom` is the version of that successor. All results share one zxid, which is the fencing token. The
 * caller reads the token from the last result.
 */
export async function claim(
  store: Store,
  claimant: Claimant,
  electedVersion: number,
  content: ClaimContent,
  { assumedFrom, onRefused }: ClaimOptions,
): Promise<OperationResult[] | null> {
  const { paths } = claimant;
  const operations: Operation[] = [
    ...(assumedFrom === undefined
      ? []
      : [{ type: 'check', path: paths.successor, version: assumedFrom } as const]),
    checkSeat(paths, claimant.seat),
    { type: 'check', path: paths.elected, version: electedVersion },
    ...claiming(claimant, content),
  ];
  try {
    const results = await ifStillTrue(() => withRoom(store, paths, () => store.multi(operations)));
    if (results === null) onRefused();
    return results;
  } catch (error) {
    if (isStoreError(error) && !error.outcomeUnknown) onRefused();
    throw error;
  }
}

/** Returns the operations that create the claim and set the registration. They fail if a claim exists. */
export function claiming(claimant: Omit<Claimant, 'seat'>, content: ClaimContent): Operation[] {
  const path = claimant.paths.current;
  return [{ type: 'create', path, data: encode(content), mode: 'ephemeral' }, registering(claimant)];
}

/**
 * Returns the claim as `claim` created it. `stat` is the result of the last operation of the multi. All
 * operations of a multi have the same zxid. The zxid that created `current` is the claim's fencing token.
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

export function releasing(claimant: Claimant, claimVersion: number): Operation[] {
  const { paths } = claimant;
  return [
    checkSeat(paths, claimant.seat),
    { type: 'delete', path: paths.current, version: claimVersion },
    registering(claimant),
  ];
}

export function registering({ paths, registration }: Omit<Claimant, 'seat'>): Operation {
  return { type: 'set', path: paths.node(registration.node), data: encode(registration), version: 'any' };
}
