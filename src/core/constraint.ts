/**
 * What may keep a node from leading. Each constraint is a value, in a file of its own under
 * strategies/constraints; the one list of them there is folded once, here, for elections, retries,
 * switchovers and what-if questions alike.
 */

import type { GroupConfig } from '../model/group-config.js';
import type { Neighbour } from '../model/neighbour.js';
import type { Finding } from '../model/own-constraint.js';
import type { Registration } from '../model/registration.js';
import type { Member } from '../model/snapshot.js';
import type { Cause, Elected, FailureRecord } from '../model/znodes.js';
import type { Elsewhere } from './elsewhere.js';

export type { Finding } from '../model/own-constraint.js';

/** A node, as its registration tells of it. */
export interface Registered {
  readonly node: string;
  readonly registration: Registration;
}

/** What a constraint may go by beside the node. */
export interface ConstraintContext {
  readonly config: GroupConfig;
  /** Failures as they stand. */
  readonly failures: readonly FailureRecord[];
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly nowMs: number;
  /** The group that this one's leader has to be near to, or away from; null: there is none. */
  readonly neighbour: Neighbour | null;
  /** Nodes that decisions name, here or elsewhere. */
  readonly elected: ReadonlySet<string>;
  readonly elsewhere: Elsewhere;
}

/** What constraints go by, for a leadership that stands decided as `elected`. */
export function constraintContextOf(
  known: Omit<ConstraintContext, 'elected'> & { readonly elected: Pick<Elected, 'node'> },
): ConstraintContext {
  const { config, failures, nowMs, neighbour, elsewhere, elected } = known;
  const named = elected.node === null ? elsewhere.elected : [...elsewhere.elected, elected.node];
  return { config, failures, nowMs, neighbour, elsewhere, elected: new Set(named) };
}

/** A pure function of its arguments, with what follows from it. */
export interface Constraint {
  /** What programs know it by. */
  readonly kind: string;
  /** One line, for people. */
  readonly description: string;
  /** What the end of a leadership counts as that it puts an end to. */
  readonly ends: Extract<Cause, 'planned' | 'shutdown' | 'failure'>;
  /** Whether `petrel failover --force` overrides it. */
  readonly canBeForced: boolean;
  /** It is nothing against the node itself, which counts as eligible where a strategy asks how many are. */
  readonly isOfPlace?: boolean;
  /** Minutes of the day, in UTC, at which it may begin to find otherwise. Missing: none. */
  readonly minutes?: readonly number[];
  /** Null: it has nothing against the node. */
  check(node: Registered, context: ConstraintContext): Finding | null;
}

/** One that runs elsewhere, and is asked about all nodes at once. */
export interface AskedConstraint extends Omit<Constraint, 'check'> {
  /** By node. Throws Unanswered where it has yet to be asked, and RuleFault where it failed. */
  checkAll(nodes: readonly Registered[], context: ConstraintContext): ReadonlyMap<string, Finding>;
}

export type AnyConstraint = Constraint | AskedConstraint;

/** One thing that keeps a node from leading. */
export interface IneligibleReason extends Pick<Constraint, 'kind' | 'ends' | 'canBeForced' | 'isOfPlace'> {
  readonly reason: string;
}

/** A node, and all that was found about it. */
export interface Judged {
  readonly member: Member;
  /** Of hard constraints; empty: the node may lead. */
  readonly ineligibleReasons: readonly IneligibleReason[];
  /** What soft ones have against it, for people. */
  readonly softReasons: readonly string[];
}

/**
 * Kinds that the elector's choice knows: a node that only its last failure keeps out is tried when nobody
 * else is left, …
 */
export const kindOfBackoff = 'backoff';
/** … garbage in a registration ends no leadership that nobody else could take up, … */
export const kindOfMalformed = 'malformed';
/** … and no node leads twice, not even by force. */
export const kindOfBusy = 'leads-slot';

/**
 * The fold: what all constraints have against each node, in order of node ids. Throws as
 * `AskedConstraint.checkAll`.
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

/** Of a node that nothing is known of no constraint can tell. */
function unreadable({ problem }: Member): IneligibleReason {
  const reason = `its registration is malformed: ${problem}`;
  return { kind: kindOfMalformed, reason, ends: 'failure', canBeForced: true };
}

/** What is against the node itself, whatever it is to lead. */
export function ownIneligibleReasons({
  ineligibleReasons,
}: Pick<Judged, 'ineligibleReasons'>): readonly IneligibleReason[] {
  return ineligibleReasons.filter(({ isOfPlace }) => isOfPlace !== true);
}

/** A node that may not lead, and why. */
export interface Ineligible {
  readonly node: string;
  readonly site: string | null;
  readonly ineligibleReasons: readonly IneligibleReason[];
}

export function ineligibleOf(judged: readonly Judged[]): Ineligible[] {
  const found = judged.filter(({ ineligibleReasons }) => ineligibleReasons.length > 0);
  return found.map(({ member: { node, value }, ineligibleReasons }) => ({
    node,
    site: value?.site ?? null,
    ineligibleReasons,
  }));
}

export function eligibleOf(judged: readonly Judged[]): Member[] {
  return judged.filter(({ ineligibleReasons }) => ineligibleReasons.length === 0).map(({ member }) => member);
}

export function ineligibleReasonsOf(
  node: string | null,
  ineligible: readonly Ineligible[],
): readonly IneligibleReason[] {
  return ineligible.find((other) => other.node === node)?.ineligibleReasons ?? [];
}

/** Why an elected node is left, by what keeps it from leading. */
export function departure(found: readonly IneligibleReason[]): Constraint['ends'] {
  const ends = (how: Constraint['ends']) => found.some((ineligibleReason) => ineligibleReason.ends === how);
  if (ends('planned')) return 'planned';
  return ends('shutdown') ? 'shutdown' : 'failure';
}

/** The same where what a forced failover overrode does not count against the elected node. */
export function withoutOverridden(
  judged: readonly Judged[],
  { node, requested }: Elected,
): readonly Judged[] {
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
 * Of what a forced failover overrode, what still keeps the elected node from leading: the rest counts again.
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
