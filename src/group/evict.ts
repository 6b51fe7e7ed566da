/**
 * Taking out of the tree what a dead node left there: its seat, its registration and, on the word of a person
 * who knows that it is dead, its claim.
 *
 * Not promised: that the node stays away. One that lives registers again.
 */

import { effectiveDecision } from '../core/effective-decision.js';
import { ensembleNowMs } from '../core/ensemble-clock.js';
import { PetrelError } from '../errors.js';
import { toInstant } from '../model/names.js';
import { slotOf } from '../model/slots.js';
import type { Claim, Member } from '../model/snapshot.js';
import type { ChangeRecord } from '../model/znodes.js';
import { isStoreError, type Operation } from '../ports/store.js';
import { withRecord } from '../tree/history-room.js';
import type { Author } from './change.js';
import { type GroupAccess, recordOperation } from './config-write.js';
import { viewsOfSlots } from './slot-view.js';
import { readEnsembleClock } from './time.js';
import { type GroupView, readGroup, sessionText } from './view.js';

export interface Eviction {
  readonly node: string;
  /** One line each: what is in the tree and goes. */
  readonly removes: readonly string[];
  /** The claim stays in the tree: leadership does not pass on before it is gone. */
  readonly leavesClaim: boolean;
  /**
   * What speaks for the node being alive; null when nothing does. `leads`: by all that the tree says it leads
   * now.
   */
  readonly alive: { readonly leads: boolean; readonly sign: string } | null;
  readonly before: GroupView;
  /** Why the history does not tell of it; null where it does. */
  readonly unrecorded: string | null;
}

export interface EvictOptions {
  readonly node: string;
  /** A person states that the node is dead: its claim goes too. */
  readonly dead: boolean;
}

const attempts = 5;

/** What an eviction would do. Throws PetrelError REFUSED when the node has left nothing in the tree. */
export async function planEviction(access: GroupAccess, options: EvictOptions): Promise<Eviction> {
  return (await plan(access, options)).eviction;
}

/**
 * Evicts. `accept` is asked before every attempt and stops it by throwing. Throws PetrelError REFUSED as
 * `planEviction`, CONFLICT when the node's znodes changed each time; StoreError.
 */
export async function evict(
  access: GroupAccess,
  author: Author,
  options: EvictOptions,
  accept: (eviction: Eviction) => Promise<void> = async () => {},
): Promise<Eviction> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { eviction, operations, at } = await plan(access, options);
    await accept(eviction);
    const record: ChangeRecord = {
      kind: 'change',
      by: author.by,
      what: `node ${options.node}: evicted${options.dead ? ', confirmed dead by the operator' : ''}`,
      reason: author.reason,
      at,
    };
    const done = await tryEvict(access, operations, recordOperation(access.paths, record));
    if (done !== null) return { ...eviction, unrecorded: done.unrecorded };
  }
  throw new PetrelError(
    'CONFLICT',
    `the znodes of ${options.node} changed during all ${attempts} attempts to remove them: check whether ${options.node} is still running`,
  );
}

async function tryEvict(
  { store, paths }: GroupAccess,
  operations: readonly Operation[],
  record: Operation,
): Promise<{ unrecorded: string | null } | null> {
  try {
    return await withRecord(store, paths, [record], (also) => store.multi([...operations, ...also]));
  } catch (error) {
    if (isStoreError(error, 'BAD_VERSION', 'NO_NODE')) return null;
    throw error;
  }
}

async function plan(access: GroupAccess, { node, dead }: EvictOptions) {
  const { store, paths, clock } = access;
  const view = slotHeldBy(await readGroup(access), node);
  const nowMs = ensembleNowMs(await readEnsembleClock(store, paths, clock), clock.monotonicMs());
  const member = view.members.find((one) => one.node === node) ?? null;
  const seats = view.seats.filter((seat) => seat.node === node);
  const claim = ownClaim(view, node);
  const removals: { text: string; operation: Operation }[] = [
    ...seats.map((seat) => ({
      text: `seat ${seat.name} of session ${sessionText(seat.owner)}`,
      operation: { type: 'delete', path: paths.seat(seat.name), version: seat.version } as const,
    })),
    ...(member === null
      ? []
      : [
          {
            text: `registration of session ${sessionText(member.owner)}`,
            operation: { type: 'delete', path: paths.node(node), version: member.version } as const,
          },
        ]),
    ...(claim === null || !dead
      ? []
      : [
          {
            text: `claim ${claimText(view)}, ${claim.value?.status ?? 'malformed'}, token ${claim.token}`,
            operation: { type: 'delete', path: view.paths.current, version: claim.version } as const,
          },
        ]),
  ];
  if (removals.length === 0) throw nothingToEvict(view, node, claim !== null);
  const eviction: Eviction = {
    node,
    removes: removals.map(({ text }) => text),
    leavesClaim: claim !== null && !dead,
    alive: signOfLife(member, claim, effectiveDecision(view).node === node),
    before: view,
    unrecorded: null,
  };
  const operations = [...checks(view, node), ...removals.map(({ operation }) => operation)];
  return { eviction, operations, at: toInstant(nowMs) };
}

/** The slot whose claim the node owns, and where it owns none, one that it is elected in. */
function slotHeldBy(view: GroupView, node: string): GroupView {
  const slots = viewsOfSlots(view);
  const owned = slots.find((each) => ownClaim(each, node) !== null);
  return owned ?? slots.find((each) => effectiveDecision(each).node === node) ?? view;
}

function claimText(view: GroupView): string {
  const slot = slotOf(view);
  return slot === 1 ? 'leader/current' : `leader/current of slot ${slot}`;
}

/** The claim that the node owns: told by the session, and where that is nobody's, by what the claim says. */
function ownClaim({ current, members, seats }: GroupView, node: string): Claim | null {
  if (current === null) return null;
  const owner = [...members, ...seats].find((one) => one.owner === current.owner);
  return (owner?.node ?? current.value?.node) === node ? current : null;
}

/** That nothing has moved: a successor's claim would have moved its registration. */
function checks(view: GroupView, node: string): Operation[] {
  const { elected, members, paths } = view;
  const candidate = members.find((member) => member.node === effectiveDecision(view).node);
  return [
    ...(elected.version < 0 ? [] : [check(paths.elected, elected.version)]),
    ...(candidate === undefined || candidate.node === node
      ? []
      : [check(paths.node(candidate.node), candidate.version)]),
  ];
}

function check(path: string, version: number): Operation {
  return { type: 'check', path, version };
}

/** A living leader leaves no other trace than a dead one whose session has not ended yet. */
function signOfLife(member: Member | null, claim: Claim | null, isElected: boolean): Eviction['alive'] {
  if (member === null) return null;
  const session = `ZooKeeper still has its session ${sessionText(member.owner)}`;
  const leads = isElected && claim?.owner === member.owner && claim.value?.status === 'READY';
  return leads ? { leads, sign: `it is elected and READY, and ${session}` } : { leads, sign: session };
}

function nothingToEvict({ members, paths }: GroupView, node: string, leavesClaim: boolean): PetrelError {
  const known = members.map((member) => member.node).join(', ') || 'none';
  const reason = leavesClaim
    ? `only the claim of ${node} is left (${paths.current}). If you are sure that ${node} is dead, pass --dead to remove the claim`
    : `${node} has no seat, registration or claim; registered are ${known}`;
  return new PetrelError('REFUSED', `nothing to evict for ${node}`, { reasons: [reason] });
}
