/**
 * Removes the znodes that a dead node left behind: its election znode and its registration. If an operator
 * confirms that the node is dead, its claim is removed too.
 *
 * Not promised: that the node does not return. A node that is still running registers again.
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
  /** The znodes that the eviction removes, one line each. */
  readonly removes: readonly string[];
  /** Whether the claim stays in the tree. No other node can become leader while the claim exists. */
  readonly leavesClaim: boolean;
  /**
   * Evidence that the node is running. Null if there is none. `leads` is true if all znodes indicate that the
   * node is the current leader.
   */
  readonly alive: { readonly leads: boolean; readonly sign: string } | null;
  readonly before: GroupView;
  /** Why the history does not contain the eviction. Null if it does. */
  readonly unrecorded: string | null;
}

export interface EvictOptions {
  readonly node: string;
  /** True if the operator states that the node is dead. In that case, the node's claim is removed too. */
  readonly dead: boolean;
}

const attempts = 5;

/**
 * Determines what an eviction would remove. Throws PetrelError REFUSED if the node has no znodes in the tree.
 */
export async function planEviction(access: GroupAccess, options: EvictOptions): Promise<Eviction> {
  return (await plan(access, options)).eviction;
}

/**
 * Evicts the node. Calls `accept` before every attempt. `accept` can stop the eviction by throwing. Throws
 * PetrelError REFUSED if the node has no znodes in the tree, and CONFLICT if its znodes changed during every
 * attempt. Throws StoreError.
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
  const claim = claimHeldBy(view, node);
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
    alive: signOfActivity(member, claim, effectiveDecision(view).node === node),
    before: view,
    unrecorded: null,
  };
  const operations = [...checks(view, node), ...removals.map(({ operation }) => operation)];
  return { eviction, operations, at: toInstant(nowMs) };
}

/**
 * Returns the view of the slot whose claim the node owns. If there is no such slot, returns the view of a
 * slot in which the node is elected.
 */
function slotHeldBy(view: GroupView, node: string): GroupView {
  const slots = viewsOfSlots(view);
  const owned = slots.find((each) => claimHeldBy(each, node) !== null);
  return owned ?? slots.find((each) => effectiveDecision(each).node === node) ?? view;
}

function claimText(view: GroupView): string {
  const slot = slotOf(view);
  return slot === 1 ? 'leader/current' : `leader/current of slot ${slot}`;
}

/**
 * Returns the claim if the node owns it. The owner is the node whose session created the claim. If that
 * session belongs to no known node, the owner is the node that the claim names.
 */
function claimHeldBy({ current, members, seats }: GroupView, node: string): Claim | null {
  if (current === null) return null;
  const owner = [...members, ...seats].find((one) => one.owner === current.owner);
  return (owner?.node ?? current.value?.node) === node ? current : null;
}

/**
 * Returns operations that check that nothing has changed. If a successor had claimed leadership, for example,
 * its registration would have changed.
 */
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

/**
 * Returns evidence that the node is running, or null if there is none. A running leader has the same znodes
 * as a dead leader whose session has not ended.
 */
function signOfActivity(member: Member | null, claim: Claim | null, isElected: boolean): Eviction['alive'] {
  if (member === null) return null;
  const session = `ZooKeeper still has its session ${sessionText(member.owner)}`;
  const leads = isElected && claim?.owner === member.owner && claim.value?.status === 'READY';
  return leads ? { leads, sign: `it is elected and READY, and ${session}` } : { leads, sign: session };
}

function nothingToEvict({ members, paths }: GroupView, node: string, leavesClaim: boolean): PetrelError {
  const known = members.map((member) => member.node).join(', ') || 'none';
  const reason = leavesClaim
    ? `only the claim of ${node} is left (${paths.current}). If you are sure that ${node} is dead, pass --dead to remove the claim`
    : `${node} has no seat, registration or claim; registered nodes: ${known}`;
  return new PetrelError('REFUSED', `nothing to evict for ${node}`, { reasons: [reason] });
}
