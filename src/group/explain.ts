/**
 * Explains which node would be elected now, and why: the ranking, and the reasons that make the other nodes
 * ineligible.
 */
import * as z from 'zod';
import { effectiveDecision } from '../core/effective-decision.js';
import { PetrelError } from '../errors.js';
import { nameSchema } from '../model/names.js';
import { firstOf } from '../model/outside.js';
import { slotOf } from '../model/slots.js';
import type { Ranked } from '../model/strategy.js';
import { causeSchema } from '../model/znodes.js';
import { judge, readableConfig, type WhatIf } from './judge.js';
import { successorListingSchema, successorOf } from './successor.js';
import type { GroupView } from './view.js';

export const explanationSchema = z.object({
  root: z.string(),
  strategy: z.string(),
  /** The slot that the explanation concerns. */
  slot: z.int(),
  /** Nodes and sites that are assumed to be absent. */
  without: z.object({ nodes: z.array(z.string()), sites: z.array(z.string()) }),
  /** Content of `leader/elected`: the decision in force. */
  elected: z.object({ node: nameSchema.nullable(), term: z.int() }),
  /** The node that would be elected now. Null if no node would be elected. */
  choice: z.object({
    node: nameSchema.nullable(),
    /**
     * Whether the choice differs from the decision in `elected`. If it does not differ, that decision remains
     * in force.
     */
    changes: z.boolean(),
    cause: causeSchema,
    reason: z.string(),
  }),
  /**
   * The node that becomes the next leader if the leader leaves, as published by the elector. Null if the
   * explanation is based on assumptions.
   */
  successor: successorListingSchema,
  /** The eligible nodes, best first. Nodes of the same grade are equally good. */
  ranking: z.array(
    z.object({ rank: z.int(), node: z.string(), site: nameSchema, grade: z.number(), reason: z.string() }),
  ),
  ineligible: z.array(
    z.object({
      node: z.string(),
      site: nameSchema.nullable(),
      ineligibleReasons: z.array(z.object({ kind: z.string(), reason: z.string() })),
    }),
  ),
});
export type Explanation = z.infer<typeof explanationSchema>;

/**
 * Explains the choice at `nowMs`, an instant on the ensemble's clock in milliseconds since the epoch. Throws
 * whatever `judge` throws. Throws PetrelError INVALID if a node or site that is assumed to be absent is not
 * registered.
 */
export function explain(view: GroupView, nowMs: number, whatIf: WhatIf = {}): Explanation {
  const { without = [], withoutSites = [] } = whatIf;
  const sites = view.members.flatMap(({ value }) => (value === null ? [] : [value.site]));
  mustBeKnown(
    'node',
    without,
    view.members.map(({ node }) => node),
  );
  mustBeKnown('site', withoutSites, [...new Set(sites)].toSorted());
  const { node, changes, cause, reason, ranking, ineligible } = judge(view, nowMs, whatIf);
  const elected = effectiveDecision(view);
  const isAsItIs = without.length === 0 && withoutSites.length === 0 && whatIf.strategy === undefined;
  return {
    root: view.paths.root,
    strategy: (whatIf.strategy ?? readableConfig(view)).strategy,
    slot: slotOf(view),
    without: { nodes: [...without], sites: [...withoutSites] },
    elected: { node: elected.node, term: elected.term },
    choice: { node, changes, cause, reason },
    successor: isAsItIs ? successorOf(view) : null,
    ranking: ranking.map((entry, index) => ({
      rank: index + 1,
      node: entry.node,
      site: siteOf(view, entry.node),
      grade: entry.grade,
      reason: withTie(entry, ranking),
    })),
    ineligible: ineligible.map((entry) => ({
      node: entry.node,
      site: entry.site,
      ineligibleReasons: entry.ineligibleReasons.map(({ kind, reason: why }) => ({ kind, reason: why })),
    })),
  };
}

/**
 * Explains why the node that ranks first is not elected, if only the tie-break ranks it above the elected
 * node. Returns null in all other cases, because the choice's own reason is then sufficient.
 */
export function tieText({ choice, ranking }: Pick<Explanation, 'choice' | 'ranking'>): string | null {
  const first = ranking[0];
  const elected = ranking.find(({ node }) => node === choice.node);
  if (choice.changes || first === undefined || elected === undefined) return null;
  if (first.node === elected.node || first.grade !== elected.grade) return null;
  return `${first.node} ranks first, but only by the tie-break: ${elected.node} stays`;
}

function mustBeKnown(what: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new PetrelError(
    'INVALID',
    `not registered: ${what} ${unknown.join(', ')}; registered: ${known.join(', ') || 'none'}`,
  );
}

/**
 * Returns the reason for a node's rank. Nodes of the same grade may have the same reason. The text for such
 * nodes therefore also names the rule that orders them.
 */
function withTie({ node, grade, reason, tie }: Ranked, ranking: readonly Ranked[]): string {
  const equals = ranking.filter((other) => other.grade === grade && other.node !== node);
  if (tie === undefined || equals.length === 0) return reason;
  return `${reason}; tied with ${firstOf(equals.map((other) => other.node)).join(', ')}: ${tie}`;
}

function siteOf({ members }: GroupView, node: string): string {
  return members.find((member) => member.node === node)?.value?.site ?? '';
}
