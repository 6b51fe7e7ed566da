/** The node that becomes the next leader if the leader leaves, as shown to operators. */
import * as z from 'zod';
import { preparedDecision } from '../core/prepared-decision.js';
import { nameSchema } from '../model/names.js';
import { slotStates } from '../model/slots.js';
import { readyNode } from '../model/snapshot.js';
import type { GroupView } from './view.js';

/**
 * The node, and the reason for the choice. The node is null if no node can follow (`nobody`), or if the
 * elector will not decide until the leader leaves. The whole value is null if nothing is published about the
 * current leader.
 */
export const successorListingSchema = z
  .object({ node: nameSchema.nullable(), nobody: z.boolean(), reason: z.string() })
  .nullable();
export type SuccessorListing = z.infer<typeof successorListingSchema>;

export function successorOf(view: GroupView): SuccessorListing {
  const published = view.successor?.value ?? null;
  const leader = readyNode(view.current, view.members);
  if (published === null || leader === null) return null;
  // Nothing is published any more once the group has several slots. The znode remains.
  if (slotStates(view).length > 1) return null;
  const { prepared, nobody, reason } = published;
  if (prepared === null) return { node: null, nobody, reason };
  // The leader does not use a decision that the elector is about to replace.
  return preparedDecision(view, leader) === null ? null : { node: prepared.decision.node, nobody, reason };
}

export function successorText(
  { node, nobody, reason }: NonNullable<SuccessorListing>,
  leader: string | null,
): string {
  const undecided = nobody ? 'no node can follow' : 'the elector decides';
  const next = node === null ? undecided : `${node} follows`;
  return `If ${leader ?? 'the leader'} leaves, ${next}: ${reason}`;
}
