/** Output of `list -f json` and `/status`. The format is a contract with users' scripts. */

import * as z from 'zod';
import { type IneligibleReason, ownIneligibleReasons } from '../core/constraint.js';
import { effectiveDecision } from '../core/effective-decision.js';
import { activeRequest } from '../core/requests.js';
import { PetrelError } from '../errors.js';
import {
  defaultGroupConfig,
  type GroupConfig,
  overrideInForce,
  priorityAfter,
  siteConfig,
  sitePriority,
  switchoverSchema,
} from '../model/group-config.js';
import { instantSchema, longSchema, nameSchema, toInstant } from '../model/names.js';
import { listedFields, listedShape } from '../model/registration.js';
import { configOfSlot, slotOf, slotsOfNode } from '../model/slots.js';
import { claimOwner, type Member } from '../model/snapshot.js';
import { judge, judgeMembers } from './judge.js';
import type { Problem } from './problem.js';
import { viewOfSlot, viewsOfSlots } from './slot-view.js';
import { successorListingSchema, successorOf } from './successor.js';
import { transitionOf, transitionSchema } from './transition.js';
import type { GroupView } from './view.js';

const nodeStates = [
  /** The node is registered, and none of the other states applies. */
  'STANDBY',
  /** The node is elected, but it has not claimed leadership. */
  'ELECTED',
  /** The node has claimed leadership, and is taking over. */
  'PROGRESS',
  /** The node leads. */
  'READY',
  /** The node owns the claim, but it is not elected. */
  'RELEASING',
  /** The node is shutting down, or an operator drained it. */
  'DRAINING',
  /** The node's takeover failed, and its backoff has not ended yet. */
  'BACKOFF',
  'UNHEALTHY',
] as const;

const nodeRoles = [
  /** The node makes the decisions. */
  'elector',
  /** The node owns `leader/current`, whether it is READY or not. */
  'leader',
  /** The node is elected, but not READY. */
  'candidate',
] as const;

export const siteListingSchema = z.object({
  site: nameSchema,
  /** The current priority. */
  priority: z.int(),
  /** Which operator drained the site, and why. Null if the site is not drained. */
  drained: z.object({ by: z.string(), reason: z.string(), at: instantSchema }).nullable(),
  /** Who or what marked the site failed, and why. Null if the site is not marked failed. */
  failed: z.object({ byRule: z.boolean(), by: z.string(), reason: z.string(), at: instantSchema }).nullable(),
  override: z
    .object({
      priority: z.int(),
      until: instantSchema.nullable(),
      /** The priority that applies when the override ends. Null if the override has no end. */
      priorityAfter: z.int().nullable(),
      reason: z.string(),
      by: z.string(),
    })
    .nullable(),
});
export type SiteListing = z.infer<typeof siteListingSchema>;

export const nodeListingSchema = z.object({
  node: z.string(),
  ...listedShape,
  roles: z.array(z.enum(nodeRoles)),
  state: z.enum(nodeStates),
  /**
   * The value that the strategy compares first. Null if that value is not a number, or if the node is
   * ineligible.
   */
  score: z.number().nullable(),
  /** Scores that the node reports. 64-bit numbers are given as strings. */
  scores: z.record(nameSchema, z.union([z.number(), longSchema])),
  /** The slot that the node leads or is elected to lead. Null if there is none. */
  slot: z.int().nullable(),
  /**
   * Position of the node among the election znodes. The node at position 0 is the elector. Null if the node
   * has no election znode.
   */
  seat: z.int().nullable(),
  eligible: z.boolean(),
  /** Reasons why the node is not eligible. */
  reasons: z.array(z.string()),
});
export type NodeListing = z.infer<typeof nodeListingSchema>;

const leaderSchema = z.object({
  node: z.string().nullable(),
  site: nameSchema.nullable(),
  status: z.enum(['PROGRESS', 'READY']).nullable(),
  term: z.int().nullable(),
  fencingToken: longSchema,
  /**
   * Time at which the leader became READY. While the leader is not READY, the time at which its takeover
   * began.
   */
  since: instantSchema,
});

const electedListingSchema = z.object({ node: nameSchema.nullable(), term: z.int(), reason: z.string() });

export const slotListingSchema = z.object({
  slot: z.int(),
  elected: electedListingSchema,
  leader: leaderSchema.nullable(),
  transition: transitionSchema.nullable(),
  preferred: z.object({ node: nameSchema, reason: z.string() }).nullable(),
});
export type SlotListing = z.infer<typeof slotListingSchema>;

export const listingSchema = z.object({
  root: z.string(),
  strategy: z.string(),
  paused: z.object({ by: z.string(), reason: z.string(), at: instantSchema }).nullable(),
  /** The node with the lowest seat. Null if there is none. */
  elector: z.string().nullable(),
  elected: electedListingSchema,
  leader: leaderSchema.nullable(),
  transition: transitionSchema.nullable(),
  /** The node that becomes the next leader if the leader leaves, as published by the elector. */
  successor: successorListingSchema,
  /** State of every slot, including the first slot. The fields above describe the first slot. */
  leaders: z.array(slotListingSchema),
  /** A switchover that an operator requested but that has not taken place yet. Null if there is none. */
  switchover: switchoverSchema.nullable(),
  /** A node that is better than the current leader, and why it does not lead. Null if there is none. */
  preferred: z.object({ node: nameSchema, reason: z.string() }).nullable(),
  sites: z.array(siteListingSchema),
  nodes: z.array(nodeListingSchema),
  /** Malformed znodes, and znodes whose owner is not registered. */
  problems: z.array(z.object({ path: z.string(), node: z.string().nullable(), problem: z.string() })),
});
export type Listing = z.infer<typeof listingSchema>;

/**
 * Builds the listing. `nowMs` is an instant on the ensemble's clock, in milliseconds since the epoch.
 * Malformed content in a znode does not make this function throw.
 */
export function listing(view: GroupView, nowMs: number): Listing {
  const config = view.config.value ?? defaultGroupConfig;
  const elected = effectiveDecision(view);
  const { preferred, scores, problem } = judged(view, nowMs);
  const slots = viewsOfSlots(view);
  return {
    root: view.paths.root,
    strategy: view.config.value === null ? elected.strategy : config.strategy,
    paused: config.paused,
    elector: view.seats[0]?.node ?? null,
    elected: { node: elected.node, term: elected.term, reason: elected.reason },
    leader: leaderOf(view),
    transition: transitionOf(view, nowMs),
    successor: successorOf(view),
    leaders: slots.map((each) => slotListing(each, nowMs)),
    switchover: slots.map(requestIn).find((request) => request !== null) ?? null,
    preferred,
    sites: siteNames(view, config).map((site) => siteListing(config, site, nowMs)),
    nodes: judgeMembers(view, config, nowMs).map((one) => ({
      ...nodeListing(view, one.member, ownIneligibleReasons(one)),
      score: scores.get(one.member.node) ?? null,
    })),
    problems: [...view.problems, ...(problem === null ? [] : [problem])],
  };
}

function slotListing(view: GroupView, nowMs: number): SlotListing {
  const { node, term, reason } = effectiveDecision(view);
  return {
    slot: slotOf(view),
    elected: { node, term, reason },
    leader: leaderOf(view),
    transition: transitionOf(view, nowMs),
    preferred: judged(view, nowMs).preferred,
  };
}

function requestIn(view: GroupView): Listing['switchover'] {
  const config = configOfSlot(view.config.value ?? defaultGroupConfig, slotOf(view));
  return activeRequest(config, effectiveDecision(view));
}

function leaderOf({ current, members }: GroupView): Listing['leader'] {
  if (current === null) return null;
  const owner = claimOwner(current, members);
  const isReady = current.value?.status === 'READY';
  return {
    node: owner?.node ?? current.value?.node ?? null,
    site: current.value?.site ?? owner?.value?.site ?? null,
    status: current.value?.status ?? null,
    term: current.value?.term ?? null,
    fencingToken: String(current.token),
    since: toInstant(isReady ? current.modifiedAtMs : current.createdAtMs),
  };
}

interface Judged {
  readonly preferred: Listing['preferred'];
  /** Score of each node, as reported by the strategy. */
  readonly scores: ReadonlyMap<string, number>;
  /** Why the other fields cannot be determined. Null if they were determined. */
  readonly problem: Problem | null;
}

function judged(view: GroupView, nowMs: number): Judged {
  const nothing = { preferred: null, scores: new Map<string, number>(), problem: null };
  if (view.config.value === null) return nothing;
  try {
    const { ranking, node, changes, reason } = judge(view, nowMs);
    const present = ranking.find((entry) => entry.node === node);
    const best = ranking[0];
    const isBetter = best !== undefined && present !== undefined && best.grade < present.grade;
    const scored = ranking.flatMap((entry): [string, number][] =>
      entry.score === undefined ? [] : [[entry.node, entry.score]],
    );
    const preferred = isBetter && !changes ? { node: best.node, reason } : null;
    return { preferred, scores: new Map(scored), problem: null };
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error;
    return { ...nothing, problem: { path: view.paths.config, node: null, problem: error.message } };
  }
}

function scoresOf({ scores }: Member): NodeListing['scores'] {
  const entries = [...(scores?.values ?? [])];
  return Object.fromEntries(
    entries.map(([name, score]) => [name, typeof score === 'bigint' ? String(score) : score]),
  );
}

/** Returns every site that is configured or has a node. */
export function siteNames({ members }: GroupView, config: GroupConfig): string[] {
  const inhabited = members.flatMap(({ value }) => (value === null ? [] : [value.site]));
  return [...new Set([...Object.keys(config.sites), ...inhabited])].toSorted();
}

function siteListing(config: GroupConfig, site: string, nowMs: number): SiteListing {
  const settings = siteConfig(config, site);
  const override = overrideInForce(settings, nowMs);
  return {
    site,
    priority: sitePriority(config, site, nowMs),
    drained: settings.drained,
    failed: settings.failed,
    override:
      override === null
        ? null
        : {
            priority: override.priority,
            until: override.until,
            // The configuration may still contain an override that has ended, so the current override is used
            // here.
            priorityAfter: priorityAfter({ ...settings, override }),
            reason: override.reason,
            by: override.by,
          },
  };
}

function nodeListing(
  view: GroupView,
  member: Member,
  found: readonly IneligibleReason[],
): Omit<NodeListing, 'score'> {
  const [own] = slotsOfNode(view, member.node, member.owner);
  const slot = own === undefined ? view : viewOfSlot(view, own);
  return {
    node: member.node,
    ...listedFields(member.value),
    roles: rolesOf(slot, member),
    state: stateOf(slot, member, found),
    scores: scoresOf(member),
    slot: own ?? null,
    seat: member.seat,
    eligible: found.length === 0,
    reasons: found.map(({ reason }) => reason),
  };
}

function rolesOf(view: GroupView, member: Member): NodeListing['roles'] {
  const { current } = view;
  const owns = current?.owner === member.owner;
  const isElected = effectiveDecision(view).node === member.node;
  const roles: NodeListing['roles'] = [];
  if (member.seat === 0) roles.push('elector');
  if (owns) roles.push('leader');
  if (isElected && !(owns && current.value?.status === 'READY')) roles.push('candidate');
  return roles;
}

function stateOf(view: GroupView, member: Member, found: readonly IneligibleReason[]): NodeListing['state'] {
  const { current } = view;
  const isElected = effectiveDecision(view).node === member.node;
  if (current?.owner === member.owner) {
    if (!isElected) return 'RELEASING';
    return current.value?.status ?? 'PROGRESS';
  }
  if (isElected) return 'ELECTED';
  const has = (...kinds: readonly IneligibleReason['kind'][]) =>
    found.some(({ kind }) => kinds.includes(kind));
  if (has('leaving', 'drained')) return 'DRAINING';
  if (has('unhealthy', 'malformed')) return 'UNHEALTHY';
  return has('backoff') ? 'BACKOFF' : 'STANDBY';
}
