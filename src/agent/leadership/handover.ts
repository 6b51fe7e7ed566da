/** The write with which a departing leader hands over to the published successor. */
import type { PreparedDecision } from '../../model/znodes.js';
import { isPermissionError, isStoreError, type Operation, type Store } from '../../ports/store.js';
import { ifStillTrue } from '../conditional-write.js';
import { checkSeat, encode, notifyingAt } from '../membership.js';
import { type Claimant, registering } from './claim-writes.js';

/** The decision that a handover writes, and the versions that the handover checks. */
export interface Handover {
  readonly prepared: PreparedDecision;
  readonly successorVersion: number;
  readonly claimVersion: number;
}

/**
 * Returns the operations by which a departing leader deletes its claim and puts the prepared decision into
 * effect. They check everything that the decision is based on, so a later change by an operator or by the
 * elected node is never overwritten. A write to the elected node's election znode notifies that node.
 */
export function handingOver(
  claimant: Claimant,
  { prepared, successorVersion, claimVersion }: Handover,
): Operation[] {
  const { decision, electedVersion, configVersion, nodeVersion, seats } = prepared;
  const { paths } = claimant;
  return [
    // ZooKeeper sends the notifications for these writes in this order. After the first one, nodes that are
    // not concerned defer their rounds. After the last one, the successor knows everything that its claim is
    // based on.
    { type: 'set', path: paths.elected, data: encode(decision), version: electedVersion },
    { type: 'delete', path: paths.current, version: claimVersion },
    ...notifyingAt(paths, seats, decision.node),
    checkSeat(paths, claimant.seat),
    { type: 'check', path: paths.config, version: configVersion },
    { type: 'check', path: paths.successor, version: successorVersion },
    { type: 'check', path: paths.node(decision.node), version: nodeVersion },
    registering(claimant),
  ];
}

/** Writes a handover. Returns false if nothing was written, because something has changed or is forbidden. */
export async function isHandedOver(store: Store, claimant: Claimant, handover: Handover): Promise<boolean> {
  try {
    return (await ifStillTrue(() => store.multi(handingOver(claimant, handover)))) !== null;
  } catch (error) {
    if (isPermissionError(error) || isStoreError(error, 'QUOTA_EXCEEDED')) return false;
    throw error;
  }
}
