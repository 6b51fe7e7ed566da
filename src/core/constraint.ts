/**
 * Constraints: what may make a node ineligible. Each constraint is a value in its own file under
 * strategies/constraints. This module applies the list of constraints in the same way for elections, retries,
 * switchovers and simulations.
 */

import type { GroupConfig } from '../model/group-config.js';
import type { Neighbour } from '../model/neighbour.js';
import type { Finding } from '../model/own-constraint.js';
import type { Registration } from '../model/registration.js';
import { type GroupSnapshot, incarnationKey, type Member } from '../model/snapshot.js';
import type { Cause, Elected, FailureRecord } from '../model/znodes.js';
import type { Elsewhere } from './elsewhere.js';

export type { Finding } from '../model/own-constraint.js';

/** A node with its registration. */
export interface Registered {
  readonly node: string;
  readonly registration: Registration;
}

/** Context of a check: what a constraint may consider in addition to the node. */
export interface ConstraintContext {
  readonly config: GroupConfig;
  /** The group's current failures. */
  readonly failures: readonly FailureRecord[];
  /** Current time on the ensemble's clock, in milliseconds since the epoch. */
  readonly nowMs: number;
  /**
   * The other group of the affinity rule. This group's leader must be near that group's leader or away from
   * it. Null if there is no such group.
   */
  readonly neighbour: Neighbour | null;
  /** Nodes named by any decision, whether for this leadership or for another one in the group. */
  readonly elected: ReadonlySet<string>;
  readonly elsewhere: Elsewhere;
}

interface ContextInput extends Pick<ConstraintContext, 'config' | 'failures' | 'elsewhere'> {
  readonly snapshot: Pick<GroupSnapshot, 'neighbour'>;
  /** The current decision. */
  readonly elected: Pick<Elected, 'node'>;
  readonly epochMs: number;
}

/** Builds the context for constraints. */
export function contextOf(input: ContextInput): ConstraintContext {
  const { snapshot, config, failures, epochMs, elsewhere, elected } = input;
  const { neighbour = null } = snapshot;
  const named = elected.node === null ? elsewhere.elected : [...elsewhere.elected, elected.node];
  return { config, failures, nowMs: epochMs, neighbour, elsewhere, elected: new Set(named) };
}

/** A constraint. `check` is a pure function of its arguments. */
export interface Constraint {
  /** Identifier of the constraint, for programs. */
  readonly kind: string;
  /** Description of the constraint in one line, for display. */
  readonly description: string;
  /** Cause that is recorded when this constraint ends a leadership. */
  readonly ends: Extract<Cause, 'planned' | 'shutdown' | 'failure'>;
  /** Whether `petrel failover --force` overrides this constraint. */
  readonly canBeForced: boolean;
  /**
   * Whether the constraint is about placement rather than about the node itself. A node that such a
   * constraint excludes still counts as eligible when a strategy asks for the number of eligible nodes.
   */
  readonly isOfPlace?: boolean;
  /** Minutes of the day, in UTC, at which the result of `check` may change. Missing if there are none. */
  readonly minutes?: readonly number[];
  /** Returns the finding against the node. Returns null if the constraint does not apply to it. */
  check(node: Registered, context: ConstraintContext): Finding | null;
}

/** A constraint that runs in another thread and checks all nodes in one call. */
export interface RemoteConstraint extends Omit<Constraint, 'check'> {
  /**
   * Returns the findings, keyed by node id. Throws Unanswered if the answer is still pending. Throws
   * RuleFault if the check failed.
   */
  checkAll(nodes: readonly Registered[], context: ConstraintContext): ReadonlyMap<string, Finding>;
}

export type AnyConstraint = Constraint | RemoteConstraint;

/** One reason why a node is ineligible. */
export interface IneligibleReason extends Pick<Constraint, 'kind' | 'ends' | 'canBeForced' | 'isOfPlace'> {
  readonly reason: string;
}

/** A node with all findings about it. */
export interface Judged {
  readonly member: Member;
  /** Reasons from hard constraints. The node is eligible if this is empty. */
  readonly ineligibleReasons: readonly IneligibleReason[];
  /** Reasons from soft constraints, for display. */
  readonly softReasons: readonly string[];
}

/**
 * The following kinds of reasons receive special treatment in the elector's choice. If only a backoff makes a
 * node ineligible, the node is tried when no eligible node is left.
 */
export const kindOfBackoff = 'backoff';
/** A malformed registration does not end a leadership if no other node could take over. */
export const kindOfMalformed = 'malformed';
/** A node that leads one slot cannot lead a second slot, not even by force. */
export const kindOfBusy = 'leads-slot';

/**
 * Applies all constraints to each node. Returns the results in order of node ids. Throws whatever
 * `RemoteConstraint.checkAll` throws.
 */
export function judgeAll(
  members: readonly Member[],
  constraints: readonly AnyConstraint[],
  context: ConstraintContext,
): readonly Judged[] {
  const inOrder = members.toSorted((a, b) => (a.node < b.node ? -1 : 1));
  const ready = constraints.map((constraint) => answeredFor(inOrder, constraint, context));
  return inOrder.map((member) => judge(member, ready, context));
}

function answeredFor(
  members: readonly Member[],
  constraint: AnyConstraint,
  context: ConstraintContext,
): Constraint {
  if ('check' in constraint) return constraint;
  const nodes = members.flatMap(({ node, value }) => (value === null ? [] : [{ node, registration: value }]));
  const found = constraint.checkAll(nodes, context);
  return { ...constraint, check: ({ node }) => found.get(node) ?? null };
}

function judge(member: Member, constraints: readonly Constraint[], context: ConstraintContext): Judged {
  const { node, value: registration } = member;
  if (registration === null) return { member, ineligibleReasons: [unreadable(member)], softReasons: [] };
  const ineligibleReasons: IneligibleReason[] = [];
  const softReasons: string[] = [];
  for (const constraint of constraints) {
    const found = constraint.check({ node, registration }, context);
    if (found === null) continue;
    if (found.strength === 'soft') softReasons.push(found.reason);
    else ineligibleReasons.push(ineligibleReasonOf(constraint, found.reason));
  }
  return { member, ineligibleReasons, softReasons };
}

function ineligibleReasonOf(
  { kind, ends, canBeForced, isOfPlace }: Constraint,
  reason: string,
): IneligibleReason {
  return { kind, reason, ends, canBeForced, ...(isOfPlace === true && { isOfPlace }) };
}

/**
 * Returns the reason why a node with a malformed registration is ineligible. Constraints cannot check such a
 * node.
 */
function unreadable({ problem }: Member): IneligibleReason {
  const reason = `its registration is malformed: ${problem}`;
  return { kind: kindOfMalformed, reason, ends: 'failure', canBeForced: true };
}

/** Returns the reasons that concern the node itself, without those that concern its placement. */
export function ownIneligibleReasons({
  ineligibleReasons,
}: Pick<Judged, 'ineligibleReasons'>): readonly IneligibleReason[] {
  return ineligibleReasons.filter(({ isOfPlace }) => isOfPlace !== true);
}

/**
 * Returns the instant at which each incarnation became eligible. A node that restarts between two checks has
 * a new incarnation with a different session, so its time starts over.
 */
export function eligibleSince(
  judged: readonly Judged[],
  before: ReadonlyMap<string, number>,
  nowMs: number,
): ReadonlyMap<string, number> {
  const eligible = judged.filter((one) => ownIneligibleReasons(one).length === 0);
  return new Map(
    eligible
      .map(({ member }) => incarnationKey(member))
      .map((incarnation) => [incarnation, before.get(incarnation) ?? nowMs]),
  );
}

/** An ineligible node with the reasons why it is ineligible. */
export interface Ineligible {
  readonly node: string;
  readonly site: string | null;
  readonly ineligibleReasons: readonly IneligibleReason[];
}

/** The findings about all nodes, in the form that is needed for a decision about one leader. */
export interface Findings {
  readonly eligible: readonly Member[];
  readonly ineligible: readonly Ineligible[];
  /** Reasons against the elected node. Empty if it is eligible or not registered. */
  readonly againstElected: readonly IneligibleReason[];
  /** The elected node, if it is eligible and has not failed. Otherwise null. */
  readonly incumbent: string | null;
  /**
   * The site of a leader that must be replaced because it failed. Null if the leader leaves as planned.
   * Without meaning if the leader continues.
   */
  readonly failedSite: string | null;
  /** The request that the decision carries out, with the reasons that it still overrides. */
  readonly stillOverridden: Elected['requested'];
}

/**
 * Returns the findings from `judged`, which is in order of node ids. `electedFailed` states whether the
 * elected node has failed and no decision has responded to that failure yet. If the node has failed, the
 * reasons that a forced failover overrode count again.
 */
export function findingsOf(judged: readonly Judged[], elected: Elected, electedFailed: boolean): Findings {
  const counted = electedFailed ? judged : withoutOverridden(judged, elected);
  const eligible = counted.filter(isEligible).map(({ member }) => member);
  const ineligible = counted.filter((one) => !isEligible(one)).map(ineligibleOf);
  const canContinue = !electedFailed && eligible.some(({ node }) => node === elected.node);
  const againstElected = ineligibleReasonsOf(elected.node, ineligible);
  return {
    eligible,
    ineligible,
    againstElected,
    incumbent: canContinue ? elected.node : null,
    failedSite: siteOfFailure(elected, againstElected, judged),
    stillOverridden: stillOverridden(elected, judged),
  };
}

function isEligible({ ineligibleReasons }: Judged): boolean {
  return ineligibleReasons.length === 0;
}

function ineligibleOf({ member: { node, value }, ineligibleReasons }: Judged): Ineligible {
  return { node, site: value?.site ?? null, ineligibleReasons };
}

export function ineligibleReasonsOf(
  node: string | null,
  ineligible: readonly Ineligible[],
): readonly IneligibleReason[] {
  return ineligible.find((other) => other.node === node)?.ineligibleReasons ?? [];
}

function siteOfFailure(
  elected: Elected,
  against: readonly IneligibleReason[],
  judged: readonly Judged[],
): string | null {
  if (elected.node === null) return elected.failedSite;
  if (departure(against) !== 'failure') return null;
  return judged.find(({ member }) => member.node === elected.node)?.member.value?.site ?? elected.site;
}

/** Returns the cause to record when an elected node is replaced because of these reasons. */
export function departure(found: readonly IneligibleReason[]): Constraint['ends'] {
  const ends = (how: Constraint['ends']) => found.some((ineligibleReason) => ineligibleReason.ends === how);
  if (ends('planned')) return 'planned';
  return ends('shutdown') ? 'shutdown' : 'failure';
}

/** Returns `judged`, minus the reasons that a forced failover to the elected node overrode. */
function withoutOverridden(judged: readonly Judged[], { node, requested }: Elected): readonly Judged[] {
  if (requested === null) return judged;
  return judged.map((one) => {
    if (one.member.node !== node) return one;
    return {
      ...one,
      ineligibleReasons: one.ineligibleReasons.filter(({ kind }) => !requested.overridden.includes(kind)),
    };
  });
}

/**
 * Reduces `overridden` to the reasons that still apply to the elected node. If a reason stops applying and
 * later applies again, it is no longer overridden.
 */
export function stillOverridden(
  { node, requested }: Elected,
  judged: readonly Judged[],
): Elected['requested'] {
  const own = judged.find(({ member }) => member.node === node);
  if (requested === null || own === undefined) return requested;
  const found = ownIneligibleReasons(own).map(({ kind }) => kind);
  const overridden = requested.overridden.filter((kind) => found.includes(kind));
  return overridden.length === requested.overridden.length ? requested : { ...requested, overridden };
}

/** Returns the reasons as one text, for display. */
export function reasonsOf(found: readonly IneligibleReason[]): string {
  return found.map(({ reason }) => reason).join(', ');
}

/** Returns the ineligible nodes with their reasons, for display. */
export function ineligibleText(ineligible: readonly Ineligible[]): string {
  const busy = ineligible.filter(({ ineligibleReasons: found }) =>
    found.some(({ kind }) => kind === kindOfBusy),
  );
  const others = ineligible.filter((one) => !busy.includes(one));
  const reasons = others.map((one) => `${one.node}: ${reasonsOf(one.ineligibleReasons)}`);
  const inOthers = busy.length === 0 ? [] : [`in other slots: ${busy.map(({ node }) => node).join(', ')}`];
  return [...reasons, ...inOthers].join('; ');
}
