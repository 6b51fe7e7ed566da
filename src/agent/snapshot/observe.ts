/**
 * Reads a group for one node, but only what the node's role requires. Requests are sent in the order config,
 * elected, current, nodes, without waiting for answers. If a node is seen as READY, it is therefore also seen
 * as registered. A watch is left on every znode whose change could affect the node's next step.
 */
import { defaultGroupConfig } from '../../model/group-config.js';
import type { Parsed } from '../../model/names.js';
import { type GroupPaths, pathsOfSlot } from '../../model/paths.js';
import { seatsInOrder } from '../../model/sequence.js';
import { slotCount, slotStates, slotsOfNode } from '../../model/slots.js';
import {
  type Claim,
  type GroupSnapshot,
  type Member,
  type OwnSeat,
  type SessionId,
  type SlotState,
  type Versioned,
  withScores,
} from '../../model/snapshot.js';
import { type ClaimContent, initialElected, initialHistoryHead } from '../../model/znodes.js';
import { isStoreError, type Stat, type Store, type StoreError } from '../../ports/store.js';
import { readCircuitBreaker } from '../../tree/circuit-breaker-record.js';
import { readNeighbour } from '../../tree/neighbour.js';
import type { ScoreReader } from '../scores/score-reader.js';
import type { Contents } from './contents.js';
import type { Reader } from './watched-cache.js';

/**
 * A node's part in the group, which determines what the node reads:
 * - standby: reads the decisions.
 * - involved: also reads and watches the claim, the configuration and the published successor, because it is
 *   elected, leads, or is that successor.
 * - next-elector: reads and watches everything. It checks that the elector makes decisions, and
 *   must know everything when it becomes the elector.
 * - elector: reads and watches everything.
 */
export const parts = ['standby', 'involved', 'next-elector', 'elector'] as const;
export type Part = (typeof parts)[number];

/** This node's seat and its position. Only names are kept between rounds. */
export interface SeatKnown {
  readonly name: string | null;
  readonly below: string | null;
  readonly second: boolean;
  /** Number of seats when the position was last looked up. */
  readonly among: number;
}
export const noSeat: SeatKnown = { name: null, below: null, second: false, among: 0 };

/** What is known about the group's slots before a read. */
export interface SlotsKnown {
  /** Number of slots. */
  readonly count: number;
  /** Slots whose claim this node reads if it is neither the elector nor the next elector. */
  readonly own: readonly number[];
  /** Whether any slot has no readable decision yet. Every node then watches for the first decision. */
  readonly undecided: boolean;
}
export const oneSlot: SlotsKnown = { count: 1, own: [1], undecided: false };

/** The parts of the input of `observe` that do not depend on a session. */
export interface ReadingNode {
  readonly paths: GroupPaths;
  readonly node: string;
  readonly scores: ScoreReader;
  readonly contents: Contents;
}

export interface SnapshotInput extends ReadingNode {
  readonly store: Store;
  /** Reader of the group's own znodes. */
  readonly reads: Reader;
}

export interface Observed {
  readonly snapshot: GroupSnapshot;
  readonly seat: SeatKnown;
}

/** Scope of a round's read. */
export interface ReadScope {
  readonly part: Part;
  readonly seat: SeatKnown;
  readonly slots: SlotsKnown;
}

/** Reads the group. Throws StoreError. NO_NODE means that the group's tree does not exist. */
export async function observe(input: SnapshotInput, scope: ReadScope): Promise<Observed> {
  const { store, reads, paths, node, contents, scores } = input;
  const { part, seat, slots } = scope;
  const readsAll = part === 'elector' || part === 'next-elector';
  const others = Array.from({ length: slots.count - 1 }, (_, index) => index + 2);
  const claim = (slot: number) => {
    const isOwn = part !== 'standby' && slots.own.includes(slot);
    return readsAll || isOwn ? claimAt(input, slot, readsAll) : null;
  };
  const isConcerned = part !== 'standby';
  const decision = (slot: number) =>
    // After the first decision, nodes that are not concerned need not watch decisions, because an elected
    // node is notified at its seat.
    reads.getData(pathsOfSlot(paths, slot).elected, { watch: isConcerned || slots.undecided });
  const [
    ownSeat,
    configRead,
    elected,
    decisions,
    current,
    claims,
    below,
    self,
    names,
    seatNames,
    head,
    successor,
  ] = await settleAll([
    // This node's election znode must be read first. An elector that elects this node writes to that znode
    // together with the decision. If this read sees that write, all later reads see the decision.
    seat.name === null ? null : reads.exists(paths.seat(seat.name), { watch: true }),
    reads.getData(paths.config, { watch: isConcerned }),
    decision(1),
    settleAll(others.map((slot) => orMissing(decision(slot)))),
    claim(1),
    settleAll(others.map(claim)),
    seat.below === null ? false : seatStands(input, seat.below),
    orNull(reads.getData(paths.node(node), { watch: readsAll })),
    readsAll ? reads.getChildren(paths.nodes, { watch: true }) : null,
    readsAll ? reads.getChildren(paths.election, { watch: true }) : null,
    readsAll ? reads.getData(paths.history, { watch: true }) : null,
    isConcerned && slots.count === 1 ? successorAt(input) : undefined,
  ] as const);
  const placed = await place(
    input,
    { ...seat, name: ownSeat === null ? null : seat.name },
    below,
    seatNames?.children ?? null,
  );
  const config = readConfig(input, configRead);
  const decided = readElected(input, 1, elected);
  const count = slotCount({ config, elected: decided, history: null }, slots.count);
  const beyondFirst = others.flatMap((slot, index): SlotState[] => {
    const decision = decisions[index];
    if (!isStoreError(decision))
      return [{ slot, elected: readElected(input, slot, decision), current: claims[index] ?? null }];
    // A slot that the group no longer has is not missing: the tree may have been recreated without it.
    if (slot <= count) throw decision;
    return [];
  });
  const [members, reports, neighbour, circuitBreaker] = await settleAll([
    names === null ? null : readMembers(input, names.children, seatNames?.children ?? [], self),
    names === null ? null : scores.read(store, config.value, names.children),
    names === null ? null : readNeighbour(store, config.value, paths, true),
    names === null ? null : readCircuitBreaker(store, config.value, paths),
  ] as const);
  return {
    seat: placed,
    snapshot: {
      config,
      elected: decided,
      current,
      others: beyondFirst,
      self: self === null ? null : versioned(contents.registration(paths.node(node), self.data), self.stat),
      seat: ownSeat === null ? null : toOwnSeat(placed, ownSeat),
      members:
        members === null
          ? null
          : members.map((member) => withScores(member, reports?.get(member.node) ?? null)),
      neighbour,
      history: head === null ? null : readHead(input, head),
      successor,
      circuitBreaker,
    },
  };
}

interface Read {
  readonly data: Buffer;
  readonly stat: Stat;
}

type Settled<T extends readonly unknown[]> = { -readonly [K in keyof T]: Awaited<T[K]> };

/** Waits for all calls. Throws the first failure, and ignores any later ones. */
async function settleAll<T extends readonly unknown[]>(calls: readonly [...T]): Promise<Settled<T>> {
  return await Promise.all(calls);
}

async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
  }
}

/** Waits for the call. Returns the error if the znode does not exist. */
async function orMissing<T>(call: Promise<T>): Promise<T | StoreError> {
  try {
    return await call;
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return error;
    throw error;
  }
}

/**
 * Waits for the call. Returns null if the znode is gone, and `unreadable` if its ACL denies this node access.
 */
async function readable<T>(call: Promise<T>): Promise<T | 'unreadable' | null> {
  try {
    return await orNull(call);
  } catch (error) {
    if (isStoreError(error, 'NO_AUTH')) return 'unreadable';
    throw error;
  }
}

const unreadable = { value: null, problem: 'its ACL does not allow this node to read it' } as const;

/**
 * Reads the claim of a slot. Only a node that reads everything must be notified when a claim is created. The
 * elected node needs no such notification: it creates the claim itself, as soon as no other claim exists.
 */
async function claimAt(input: SnapshotInput, slot: number, watchesCreation: boolean): Promise<Claim | null> {
  const { reads } = input;
  const { current } = pathsOfSlot(input.paths, slot);
  const read = await readable(reads.getData(current, { watch: true }));
  if (read !== 'unreadable' && read !== null) return readClaim(input, current, read);
  if (read === null && !watchesCreation) return null;
  const stat = await reads.exists(current, { watch: true });
  if (stat === null) return null;
  // If the znode was missing at the first read, it has been created since then.
  return read === 'unreadable' ? asClaim(unreadable, stat) : await claimAt(input, slot, watchesCreation);
}

/** Reads the published successor. Returns null if there is none, undefined if this node may not read it. */
async function successorAt(input: SnapshotInput): Promise<GroupSnapshot['successor']> {
  const { reads, paths, contents } = input;
  const read = await readable(reads.getData(paths.successor, { watch: true }));
  if (read === 'unreadable') return undefined;
  if (read !== null) return versioned(contents.successor(paths.successor, read.data), read.stat);
  const stat = await reads.exists(paths.successor, { watch: true });
  return stat === null ? null : await successorAt(input);
}

/**
 * Returns the seat's position. Looks up the predecessor again if the watched predecessor is gone. `read`
 * contains the seats if they were just read.
 */
async function place(
  input: SnapshotInput,
  seat: SeatKnown,
  belowStands: boolean,
  read: readonly string[] | null,
): Promise<SeatKnown> {
  const { reads, paths } = input;
  if (seat.name === null) return noSeat;
  if (belowStands) return seat;
  for (let seats = read; ; seats = null) {
    const names = seats ?? (await reads.getChildren(paths.election)).children;
    const order = seatsInOrder(names).map(({ name }) => name);
    const index = order.indexOf(seat.name);
    if (index === -1) return noSeat;
    const below = order[index - 1] ?? null;
    const found = { name: seat.name, below, second: index === 1, among: order.length };
    if (below === null || (await seatStands(input, below))) return found;
  }
}

/**
 * Whether the seat exists. Watches the seat's children. A seat cannot have children, so this watch fires only
 * when the seat is deleted. Data that is written to a seat concerns only the seat's own node.
 */
async function seatStands({ reads, paths }: SnapshotInput, seat: string): Promise<boolean> {
  const path = paths.seat(seat);
  const read = await readable(reads.getChildren(path, { watch: true }));
  return read === 'unreadable' ? (await reads.exists(path, { watch: true })) !== null : read !== null;
}

function toOwnSeat({ name, below, second }: SeatKnown, stat: Stat): OwnSeat | null {
  return name === null ? null : { name, below, second, version: stat.version };
}

/**
 * Returns all registered nodes, ordered by node id. Omits a node that leaves during the read. `self` is this
 * node's own registration, which was just read.
 */
async function readMembers(
  { reads, paths, node, contents }: SnapshotInput,
  names: readonly string[],
  seatNames: readonly string[],
  self: Read | null,
): Promise<Member[]> {
  const order = seatsInOrder(seatNames);
  const places = new Map(order.map((seat, index) => [seat.node, index]));
  const seats = new Map<string, string[]>();
  for (const seat of order) seats.set(seat.node, [...(seats.get(seat.node) ?? []), seat.name]);
  const members = names.toSorted().map(async (name): Promise<Member | null> => {
    const options = { watch: true };
    const read = name === node ? self : await readable(reads.getData(paths.node(name), options));
    const stat = read === 'unreadable' ? await reads.exists(paths.node(name), options) : read?.stat;
    if (read === null || stat == null) return null;
    const content = read === 'unreadable' ? unreadable : contents.registration(paths.node(name), read.data);
    return {
      ...versioned(content, stat),
      node: name,
      owner: stat.ephemeralOwner,
      seat: places.get(name) ?? null,
      seatNames: seats.get(name),
    };
  });
  return (await Promise.all(members)).filter((member) => member !== null);
}

export function versioned<T>(content: Parsed<T>, stat: Stat): Versioned<T> {
  return { ...content, version: stat.version, modifiedAtMs: stat.mtimeMs };
}

/** Returns the configuration. An empty znode has been created but not written yet, so the default applies. */
function readConfig({ paths, contents }: SnapshotInput, { data, stat }: Read): GroupSnapshot['config'] {
  if (data.length === 0) return versioned({ value: defaultGroupConfig, problem: null }, stat);
  return versioned(contents.config(paths.config, data), stat);
}

const notRead = { value: null, problem: 'it was not read', version: -1, modifiedAtMs: 0 } as const;

function readElected(
  { paths, contents }: SnapshotInput,
  slot: number,
  read: Read | undefined,
): GroupSnapshot['elected'] {
  if (read === undefined) return notRead;
  const { data, stat } = read;
  if (data.length === 0) return versioned({ value: initialElected, problem: null }, stat);
  return versioned(contents.elected(pathsOfSlot(paths, slot).elected, data), stat);
}

/** Returns the head of the history. An unreadable head is overwritten with the next record. */
function readHead({ paths, contents }: SnapshotInput, { data, stat }: Read): GroupSnapshot['history'] {
  if (data.length === 0) return versioned({ value: initialHistoryHead, problem: null }, stat);
  return versioned(contents.historyHead(paths.history, data), stat);
}

function readClaim({ contents }: SnapshotInput, path: string, { data, stat }: Read): Claim {
  return asClaim(contents.claim(path, data), stat);
}

function asClaim(content: Parsed<ClaimContent>, stat: Stat): Claim {
  return {
    ...versioned(content, stat),
    token: stat.czxid,
    owner: stat.ephemeralOwner,
    createdAtMs: stat.ctimeMs,
  };
}

/** Returns the node's part in the group, according to the snapshot. */
export function partFor(
  snapshot: GroupSnapshot,
  node: string,
  session: SessionId,
  hasLeadership: boolean,
): Part {
  if (snapshot.seat !== null && snapshot.seat.below === null) return 'elector';
  if (snapshot.seat?.second === true) return 'next-elector';
  const isNext = snapshot.successor?.value?.prepared?.decision.node === node;
  return isNext || slotsOfNode(snapshot, node, session).length > 0 || hasLeadership ? 'involved' : 'standby';
}

/**
 * Returns what must be known about the slots for the next read. This includes the slots whose claims must be
 * read: the slots that concern this node, and the slot of its leadership.
 */
export function slotsFor(
  snapshot: GroupSnapshot,
  node: string,
  session: SessionId,
  known: SlotsKnown,
  leadership: number | null,
): SlotsKnown {
  const concerned = slotsOfNode(snapshot, node, session);
  const count = Math.max(slotCount(snapshot, known.count), leadership ?? 1);
  const own = leadership === null || concerned.includes(leadership) ? concerned : [...concerned, leadership];
  return {
    count,
    undecided: slotStates(snapshot).some(({ elected }) => (elected.value?.term ?? 0) === 0),
    // If there is only one slot, it may concern any node.
    own: count === 1 ? oneSlot.own : own,
  };
}

/** Whether a read covered everything that the node's part requires. */
export function covers(part: Part, covered: SlotsKnown, required: SlotsKnown): boolean {
  if (required.count > covered.count) return false;
  if (part === 'standby' && required.undecided && !covered.undecided) return false;
  const readsAll = part === 'elector' || part === 'next-elector';
  return readsAll || required.own.every((slot) => covered.own.includes(slot));
}
