/**
 * Reads a group for one node: as much of it as the node's part needs, and no more. Requests are sent in the
 * order config, elected, current, nodes, without waiting for one another, so that a node seen READY is also
 * seen registered; watches are left on whatever would change the node's next step.
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
 * standby: reads what is decided. involved: reads and watches the claim and the configuration too, because it
 * is elected or leads. deputy: next in line, reads and watches all there is, to see whether the elector
 * decides, and to know all when it is the elector. elector: the same.
 */
export const parts = ['standby', 'involved', 'deputy', 'elector'] as const;
export type Part = (typeof parts)[number];

/** Where this node sits; kept between rounds, as names only. */
export interface SeatKnown {
  readonly name: string | null;
  readonly below: string | null;
  readonly second: boolean;
  /** How many seats there were when the place was looked up. */
  readonly among: number;
}
export const noSeat: SeatKnown = { name: null, below: null, second: false, among: 0 };

/** As much as is known of the group's slots before it is read. */
export interface SlotsKnown {
  /** How many there are. */
  readonly count: number;
  /** Those whose claim this node reads, where it neither elects nor audits. */
  readonly own: readonly number[];
  /** Nothing was decided yet in one of them, or it cannot be read: everybody watches for that decision. */
  readonly undecided: boolean;
}
export const oneSlot: SlotsKnown = { count: 1, own: [1], undecided: false };

/** Who observes, in whatever session. */
export interface Onlooker {
  readonly paths: GroupPaths;
  readonly node: string;
  readonly scores: ScoreReader;
  readonly contents: Contents;
}

export interface Observer extends Onlooker {
  readonly store: Store;
  /** Of the group's own znodes. */
  readonly reads: Reader;
}

export interface Observed {
  readonly snapshot: GroupSnapshot;
  readonly seat: SeatKnown;
}

/** What a round asks for. */
export interface Asked {
  readonly part: Part;
  readonly seat: SeatKnown;
  readonly slots: SlotsKnown;
}

/** Throws StoreError. NO_NODE means that the group's tree is not there. */
export async function observe(observer: Observer, asked: Asked): Promise<Observed> {
  const { store, reads, paths, node, contents, scores } = observer;
  const { part, seat, slots } = asked;
  const readsAll = part === 'elector' || part === 'deputy';
  const others = Array.from({ length: slots.count - 1 }, (_, index) => index + 2);
  const claim = (slot: number) => {
    const isOwn = part !== 'standby' && slots.own.includes(slot);
    return readsAll || isOwn ? claimAt(observer, slot, readsAll) : null;
  };
  const isConcerned = part !== 'standby';
  const decision = (slot: number) =>
    // After the first, others need not watch decisions: whoever is elected is told so at its seat.
    reads.getData(pathsOfSlot(paths, slot).elected, { watch: isConcerned || slots.undecided });
  const [ownSeat, configRead, elected, decisions, current, claims, below, self, names, seatNames, head] =
    await settleAll([
      // First: who is told there is elected in what is read after it.
      seat.name === null ? null : reads.exists(paths.seat(seat.name), { watch: true }),
      reads.getData(paths.config, { watch: isConcerned }),
      decision(1),
      settleAll(others.map((slot) => orMissing(decision(slot)))),
      claim(1),
      settleAll(others.map(claim)),
      seat.below === null ? false : seatStands(observer, seat.below),
      orNull(reads.getData(paths.node(node), { watch: readsAll })),
      readsAll ? reads.getChildren(paths.nodes, { watch: true }) : null,
      readsAll ? reads.getChildren(paths.election, { watch: true }) : null,
      readsAll ? reads.getData(paths.history, { watch: true }) : null,
    ] as const);
  const placed = await place(
    observer,
    { ...seat, name: ownSeat === null ? null : seat.name },
    below,
    seatNames?.children ?? null,
  );
  const config = readConfig(observer, configRead);
  const decided = readElected(observer, 1, elected);
  const count = slotCount({ config, elected: decided, history: null }, slots.count);
  const beyondFirst = others.flatMap((slot, index): SlotState[] => {
    const decision = decisions[index];
    if (!isStoreError(decision))
      return [{ slot, elected: readElected(observer, slot, decision), current: claims[index] ?? null }];
    // Of a slot that the group no longer has nothing is missing: the tree may have been made again without
    // it.
    if (slot <= count) throw decision;
    return [];
  });
  const [members, reports, neighbour, circuitBreaker] = await settleAll([
    names === null ? null : readMembers(observer, names.children, seatNames?.children ?? [], self),
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
      history: head === null ? null : readHead(observer, head),
      circuitBreaker,
    },
  };
}

interface Read {
  readonly data: Buffer;
  readonly stat: Stat;
}

type Settled<T extends readonly unknown[]> = { -readonly [K in keyof T]: Awaited<T[K]> };

/** All of them, or the first failure; none is left without somebody to hear of its failing. */
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

/** The error where it is not there. */
async function orMissing<T>(call: Promise<T>): Promise<T | StoreError> {
  try {
    return await call;
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return error;
    throw error;
  }
}

/**
 * Null when it is gone, `unreadable` when its ACL keeps this node out: somebody else's znode harms nobody.
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

/** Of its making only who reads all has to hear: whoever is elected makes it, as soon as there is none. */
async function claimAt(observer: Observer, slot: number, hearsOfMaking: boolean): Promise<Claim | null> {
  const { reads } = observer;
  const { current } = pathsOfSlot(observer.paths, slot);
  const read = await readable(reads.getData(current, { watch: true }));
  if (read !== 'unreadable' && read !== null) return readClaim(observer, current, read);
  if (read === null && !hearsOfMaking) return null;
  const stat = await reads.exists(current, { watch: true });
  if (stat === null) return null;
  // Made in between, where it was not there.
  return read === 'unreadable' ? asClaim(unreadable, stat) : await claimAt(observer, slot, hearsOfMaking);
}

/**
 * Finds the seat just below anew when the one that was watched is gone. `read`: the seats, where they were
 * read just now.
 */
async function place(
  observer: Observer,
  seat: SeatKnown,
  belowStands: boolean,
  read: readonly string[] | null,
): Promise<SeatKnown> {
  const { reads, paths } = observer;
  if (seat.name === null) return noSeat;
  if (belowStands) return seat;
  for (let seats = read; ; seats = null) {
    const names = seats ?? (await reads.getChildren(paths.election)).children;
    const order = seatsInOrder(names).map(({ name }) => name);
    const index = order.indexOf(seat.name);
    if (index === -1) return noSeat;
    const below = order[index - 1] ?? null;
    const found = { name: seat.name, below, second: index === 1, among: order.length };
    if (below === null || (await seatStands(observer, below))) return found;
  }
}

/**
 * Of a seat's children, which it cannot have, nobody is told but when it goes: what is written to it concerns
 * its node.
 */
async function seatStands({ reads, paths }: Observer, seat: string): Promise<boolean> {
  const path = paths.seat(seat);
  const read = await readable(reads.getChildren(path, { watch: true }));
  return read === 'unreadable' ? (await reads.exists(path, { watch: true })) !== null : read !== null;
}

function toOwnSeat({ name, below, second }: SeatKnown, stat: Stat): OwnSeat | null {
  return name === null ? null : { name, below, second, version: stat.version };
}

/**
 * Everyone registered, in order of node ids. One that leaves while being read is left out. `self`: this
 * node's own, read just now.
 */
async function readMembers(
  { reads, paths, node, contents }: Observer,
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

/** An empty znode is one that nobody has written yet. */
function readConfig({ paths, contents }: Observer, { data, stat }: Read): GroupSnapshot['config'] {
  if (data.length === 0) return versioned({ value: defaultGroupConfig, problem: null }, stat);
  return versioned(contents.config(paths.config, data), stat);
}

const notRead = { value: null, problem: 'it was not read', version: -1, modifiedAtMs: 0 } as const;

function readElected(
  { paths, contents }: Observer,
  slot: number,
  read: Read | undefined,
): GroupSnapshot['elected'] {
  if (read === undefined) return notRead;
  const { data, stat } = read;
  if (data.length === 0) return versioned({ value: initialElected, problem: null }, stat);
  return versioned(contents.elected(pathsOfSlot(paths, slot).elected, data), stat);
}

/** One that cannot be read is written anew with the next record. */
function readHead({ paths, contents }: Observer, { data, stat }: Read): GroupSnapshot['history'] {
  if (data.length === 0) return versioned({ value: initialHistoryHead, problem: null }, stat);
  return versioned(contents.historyHead(paths.history, data), stat);
}

function readClaim({ contents }: Observer, path: string, { data, stat }: Read): Claim {
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

/** The part that what was read calls for. */
export function partFor(
  snapshot: GroupSnapshot,
  node: string,
  session: SessionId,
  hasLeadership: boolean,
): Part {
  if (snapshot.seat !== null && snapshot.seat.below === null) return 'elector';
  if (snapshot.seat?.second === true) return 'deputy';
  const isConcerned = slotsOfNode(snapshot, node, session).length > 0;
  return isConcerned || hasLeadership ? 'involved' : 'standby';
}

/**
 * What is to be known of the slots, by what was read: the claims of those that concern this node, the one of
 * its leadership too.
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
    // Where there is but one, it is the one that anybody comes to be concerned with.
    own: count === 1 ? oneSlot.own : own,
  };
}

/** Whether all that a part calls for is among what was asked for. */
export function covers(part: Part, asked: SlotsKnown, called: SlotsKnown): boolean {
  if (called.count > asked.count) return false;
  if (part === 'standby' && called.undecided && !asked.undecided) return false;
  return part === 'deputy' || part === 'elector' || called.own.every((slot) => asked.own.includes(slot));
}
