/**
 * Runs a strategy over the eligible nodes and holds it to its contract, so that a faulty one harms no
 * decision.
 */

import * as z from 'zod';
import { Unanswered } from '../../strategies/questions.js';
import type { ReadyStrategy } from '../../strategies/registry.js';
import { type GroupConfig, sitePriority } from '../model/group-config.js';
import { describeIssues } from '../model/names.js';
import type { Member } from '../model/snapshot.js';
import type { Candidate, Conditions, Peer, Ranked } from '../model/strategy.js';
import type { Place } from '../model/znodes.js';

/**
 * Thrown where a strategy, or a constraint of a user's own, breaks its contract or throws: the elector cannot
 * elect.
 */
export class RuleFault extends Error {
  override readonly name = 'RuleFault';
}

/** What a strategy answers, as far as it can be told without what it was asked. */
export const rankingSchema = z
  .array(
    z.object({
      node: z.string(),
      grade: z.number(),
      /** Stands in the history of every term that goes by it. */
      reason: z.string().min(1).max(2_000),
      tie: z.string().max(2_000).optional(),
      score: z.number().optional(),
    }),
  )
  .refine((ranking) => ranking.every(({ grade }, index) => grade >= (ranking[index - 1]?.grade ?? grade)), {
    error: 'the grades decrease from one node to the next: rank the best node first',
  });

export interface RankInput {
  readonly strategy: ReadyStrategy;
  readonly config: GroupConfig;
  /** The last node that was READY. */
  readonly previous: Place | null;
  /** Everyone who is registered, in order of node ids. */
  readonly members: readonly Member[];
  /** Who leads and could go on. */
  readonly incumbent: string | null;
  /** The term that a new decision would begin. */
  readonly term: number;
  readonly conditions: Conditions;
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly nowMs: number;
}

/**
 * The nodes of `eligible`, which come in order of node ids, the best first. Throws RuleFault, and Unanswered
 * where the strategy has yet to be asked.
 */
export function rank(input: RankInput, eligible: readonly Member[]): readonly Ranked[] {
  const { strategy, previous, incumbent, term, conditions } = input;
  const peers = input.members.flatMap(peerOf);
  const candidates = eligible.flatMap((member) => candidateOf(member, input));
  const known = candidates.map(({ node }) => node);
  let answer: unknown;
  try {
    answer = strategy.rank({ candidates, previous, peers, incumbent, term, conditions });
  } catch (cause) {
    if (cause instanceof Unanswered) throw cause;
    throw new RuleFault(`strategy ${strategy.name} failed: ${String(cause)}`, { cause });
  }
  return heldToContract(strategy, answer, known);
}

/**
 * What a strategy answered to `known`, in order of node ids. Throws RuleFault where that breaks its contract.
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

/** What strategies are told of a member; nothing where its registration cannot be read. */
export function peerOf({ node, value, scores }: Member): Peer[] {
  if (value === null) return [];
  const { values = nothing, roundTripsMs = nothing } = scores ?? {};
  return [{ node, site: value.site, scores: values, roundTripsMs }];
}

/** What strategies are told of a member that may lead. */
export function candidateOf(
  { node, seat, value, scores }: Member,
  { config, nowMs }: Pick<RankInput, 'config' | 'nowMs'>,
): Candidate[] {
  if (value === null) return [];
  const { site, priority, tags } = value;
  const values = scores?.values ?? nothing;
  return [
    { node, site, priority, sitePriority: sitePriority(config, site, nowMs), seat, scores: values, tags },
  ];
}
