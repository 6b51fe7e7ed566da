/** Who would be elected now, and why: rank by rank, and what keeps the others out. */
import * as z from 'zod';
import { effectiveDecision } from '../core/effective-decision.js';
import { PetrelError } from '../errors.js';
import { nameSchema } from '../model/names.js';
import { firstOf } from '../model/outside.js';
import { slotOf } from '../model/slots.js';
import type { Ranked } from '../model/strategy.js';
import { causeSchema } from '../model/znodes.js';
import { judge, readableConfig, type WhatIf } from './judge.js';
import type { GroupView } from './view.js';

export const explanationSchema = z.object({
  root: z.string(),
  strategy: z.string(),
  /** Which of the group's slots it is about. */
  slot: z.int(),
  /** What was thought away. */
  without: z.object({ nodes: z.array(z.string()), sites: z.array(z.string()) }),
  /** What `leader/elected` says. */
  elected: z.object({ node: nameSchema.nullable(), term: z.int() }),
  /** Who would be elected now; null when nobody would. */
  choice: z.object({
    node: nameSchema.nullable(),
    /** False: what `elected` says stands. */
    changes: z.boolean(),
    cause: causeSchema,
    reason: z.string(),
  }),
  /** The nodes that are eligible, best first. Nodes of one grade are equally good. */
  ranking: z.array(
    z.object({ rank: z.int(), node: z.string(), site: nameSchema, grade: z.int(), reason: z.string() }),
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
 * `nowMs` is an instant on the ensemble's clock, milliseconds since the epoch. Throws as `judge` does, and
 * PetrelError INVALID for a node or site that is not there to be thought away.
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
  return {
    root: view.paths.root,
    strategy: (whatIf.strategy ?? readableConfig(view)).strategy,
    slot: slotOf(view),
    without: { nodes: [...without], sites: [...withoutSites] },
    elected: { node: elected.node, term: elected.term },
    choice: { node, changes, cause, reason },
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

function mustBeKnown(what: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new PetrelError(
    'INVALID',
    `${what} ${unknown.join(', ')} is not registered; registered: ${known.join(', ') || 'none'}`,
  );
}

/** Nodes of one grade may have the same reason: then the rule that orders them is worth knowing. */
function withTie({ node, grade, reason, tie }: Ranked, ranking: readonly Ranked[]): string {
  const equals = ranking.filter((other) => other.grade === grade && other.node !== node);
  if (tie === undefined || equals.length === 0) return reason;
  return `${reason}; tied with ${firstOf(equals.map((other) => other.node)).join(', ')}: ${tie}`;
}

function siteOf({ members }: GroupView, node: string): string {
  return members.find((member) => member.node === node)?.value?.site ?? '';
}
