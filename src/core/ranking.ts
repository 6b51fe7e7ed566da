/**
 * Runs a strategy over the eligible nodes and enforces the strategy's contract, so that a faulty strategy
 * does not affect a decision.
 */

import * as z from 'zod';
import { Unanswered } from '../../strategies/questions.js';
import type { ReadyStrategy } from '../../strategies/registry.js';
import { type GroupConfig, type SwitchoverRequest, sitePriority } from '../model/group-config.js';
import { describeIssues } from '../model/names.js';
import type { Member } from '../model/snapshot.js';
import type { Candidate, Conditions, Peer, Ranked } from '../model/strategy.js';
import type { Elected, Place } from '../model/znodes.js';
import { type Findings, type Judged, ownIneligibleReasons } from './constraint.js';
import { minuteOfDay } from './ensemble-clock.js';

/**
 * Thrown if a strategy or a user-defined constraint throws or breaks its contract. In this case, the elector
 * cannot elect a node.
 */
export class RuleFault extends Error {
  override readonly name = 'RuleFault';
}

/** Schema of a strategy's answer. It covers what can be checked without the strategy's input. */
export const rankingSchema = z
  .array(
    z.object({
      node: z.string(),
      grade: z.number(),
      /** The reason is recorded in the history of every term that this ranking decides. */
      reason: z.string().min(1).max(2_000),
      tie: z.string().max(2_000).optional(),
      score: z.number().optional(),
    }),
  )
  .refine((ranking) => ranking.every(({ grade }, index) => grade >= (ranking[index - 1]?.grade ?? grade)), {
    error: 'grades must not decrease from one node to the next: rank the best node first',
  });

export interface RankInput {
  readonly strategy: ReadyStrategy;
  readonly config: GroupConfig;
  /** The current decision. A new decision would begin the next term. */
  readonly elected: Elected;
  /** The requested switchover, if it is active. Otherwise null. */
  readonly request: SwitchoverRequest | null;
  /** The last node that was READY. Null if there has been none. */
  readonly previous: Place | null;
  /** All registered nodes with their findings, in order of node ids. */
  readonly judged: readonly Judged[];
  /** Current time on the ensemble's clock, in milliseconds since the epoch. */
  readonly epochMs: number;
}

/**
 * Ranks the eligible nodes and returns them, best first. Nodes with a soft constraint against them come last.
 * Throws RuleFault if the strategy fails, and Unanswered if its answer is still pending.
 */
export function rank(input: RankInput & Findings): readonly Ranked[] {
  const { strategy, previous, elected, judged, eligible, incumbent } = input;
  const conditions = conditionsOf(input);
  const peers = judged.flatMap(({ member }) => peerOf(member));
  const candidates = eligible.flatMap((member) => candidateOf(member, input));
  const known = candidates.map(({ node }) => node);
  let answer: unknown;
  try {
    answer = strategy.rank({ candidates, previous, peers, incumbent, term: elected.term + 1, conditions });
  } catch (cause) {
    if (cause instanceof Unanswered) throw cause;
    throw new RuleFault(`strategy ${strategy.name} failed: ${String(cause)}`, { cause });
  }
  return bySoftConstraints(heldToContract(strategy, answer, known), judged);
}

/** Returns what a strategy may consider in addition to the nodes. */
function conditionsOf(input: RankInput & Findings): Conditions {
  const { elected, request, judged, config, epochMs, incumbent, failedSite, ineligible } = input;
  const isRequested = request !== null;
  const site = incumbent === null ? failedSite : elected.failedSite;
  return {
    after: site === null || isRequested ? 'planned' : 'failure',
    failedSite: isRequested ? null : site,
    minuteOfDay: minuteOfDay(epochMs),
    registered: judged.length,
    eligible: judged.length - ineligible.filter((one) => ownIneligibleReasons(one).length > 0).length,
    flags: Object.keys(config.flags).toSorted(),
  };
}

/**
 * Moves the nodes that have a soft constraint against them behind all other nodes in the ranking. The order
 * within each of the two parts is unchanged.
 */
function bySoftConstraints(ranking: readonly Ranked[], judged: readonly Judged[]): readonly Ranked[] {
  const against = new Map(
    judged
      .filter(({ softReasons }) => softReasons.length > 0)
      .map(({ member, softReasons }) => [member.node, softReasons.join(', ')]),
  );
  const grades = ranking.map(({ grade }) => grade);
  const below = Math.max(...grades) - Math.min(...grades) + 1;
  const preferred = ranking.filter(({ node }) => !against.has(node));
  const others = ranking.flatMap((entry) => {
    const why = against.get(entry.node);
    if (why === undefined) return [];
    return [{ ...entry, grade: entry.grade + below, reason: `${entry.reason}, but ${why}` }];
  });
  return [...preferred, ...others];
}

/**
 * Checks a strategy's answer and returns it as a ranking of `known`, which is in order of node ids. Throws
 * RuleFault if the answer breaks the contract.
 */
export function heldToContract(
  strategy: Pick<ReadyStrategy, 'name'>,
  answer: unknown,
  known: readonly string[],
): readonly Ranked[] {
  const parsed = rankingSchema.safeParse(answer);
  if (!parsed.success) throw broken(strategy, describeIssues(parsed.error).join('; '));
  const ranked = parsed.data.map(({ node }) => node);
  if (JSON.stringify(ranked.toSorted()) !== JSON.stringify(known)) {
    throw broken(strategy, `it received ${list(known)} but ranked ${list(ranked)}`);
  }
  return parsed.data;
}

function broken({ name }: Pick<ReadyStrategy, 'name'>, how: string): RuleFault {
  return new RuleFault(`strategy ${name} broke its contract: ${how}`);
}

function list(nodes: readonly string[]): string {
  return nodes.length === 0 ? 'nobody' : nodes.join(', ');
}

const nothing = new Map<string, never>();

/**
 * Returns the part of a member that strategies see. Returns an empty list if the member's registration is
 * unreadable.
 */
export function peerOf({ node, value, scores }: Member): Peer[] {
  if (value === null) return [];
  const { values = nothing, roundTripsMs = nothing } = scores ?? {};
  return [{ node, site: value.site, scores: values, roundTripsMs }];
}

/** Returns the part of an eligible member that strategies see. */
export function candidateOf(
  { node, seat, value, scores }: Member,
  { config, epochMs }: Pick<RankInput, 'config' | 'epochMs'>,
): Candidate[] {
  if (value === null) return [];
  const { site, priority, tags } = value;
  const values = scores?.values ?? nothing;
  return [
    { node, site, priority, sitePriority: sitePriority(config, site, epochMs), seat, scores: values, tags },
  ];
}
