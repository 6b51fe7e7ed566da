/**
 * A group as an operator sees it. One operation reads everything, and most of its requests are pipelined.
 *
 * An agent has its own reader, `src/agent/snapshot/observe.ts`. That reader reads only what the agent
 * requires. It uses a cache of watched znodes, and fails if a znode of the tree is missing. The reader in
 * this file caches nothing, reads all znodes, and also shows which of them are missing or forbidden.
 *
 * Not promised: that the view shows a single instant. The parts are read one after the other. The order
 * ensures that every node that is seen as READY is also seen as registered. A malformed znode is reported as
 * a problem with its path, and the rest of the group stays visible.
 */

import type { Rules } from '../../strategies/registry.js';
import type { GroupConfig } from '../model/group-config.js';
import { type Parsed, parseJson } from '../model/names.js';
import { type GroupPaths, pathsOfSlot } from '../model/paths.js';
import { parseGroupConfig, usesScores } from '../model/read-config.js';
import { registrationSchema } from '../model/registration.js';
import { type ScoreReport, scoreReportSchema } from '../model/scores.js';
import { parseSeatName, type SeatName, seatsInOrder } from '../model/sequence.js';
import { slotStates } from '../model/slots.js';
import {
  type Claim,
  type GroupSnapshot,
  type Member,
  type SessionId,
  type SlotState,
  type Versioned,
  withScores,
} from '../model/snapshot.js';
import { claimSchema, electedSchema, historyHeadSchema, successorSchema } from '../model/znodes.js';
import { isStoreError, type Stat, type Store } from '../ports/store.js';
import { readNeighbour } from '../tree/neighbour.js';
import type { GroupAccess } from './config-write.js';
import { noGroup } from './no-group.js';
import type { Problem } from './problem.js';
import { sizeProblems, strategyProblems } from './strategy-versions.js';

export type Seat = SeatName & { readonly owner: SessionId; readonly version: number };

export interface GroupView extends GroupSnapshot {
  /** Paths of the slot that the view concerns. */
  readonly paths: GroupPaths;
  /** The rules that this process has. They are used to judge the group. */
  readonly rules: Rules;
  /**
   * The whole group, if this view concerns a slot other than the first. Missing if this view is the whole
   * group.
   */
  readonly whole?: GroupView;
  readonly members: readonly Member[];
  /** Election znodes in seat order, starting with the elector's. */
  readonly seats: readonly Seat[];
  /** Problems in the tree, each with its path. */
  readonly problems: readonly Problem[];
  /** Time of the newest change that was read, on the ensemble's clock. The current time is not earlier. */
  readonly newestChangeMs: number;
}

/** The part of an operator's access that is needed to read a group. */
export type GroupReading = Pick<GroupAccess, 'store' | 'paths' | 'rules'>;

export interface ReadGroupOptions {
  /**
   * Watches to set. `all` watches everything that was read and everything that was absent. `decisions` does
   * the same, but watches only the list of registrations and not their content. A leader's registration
   * changes with every renewal of its lease. Default: no watches.
   */
  readonly watch?: 'all' | 'decisions';
  /**
   * Whether to read the scores even if the group's strategy does not compare scores. Scores are never
   * watched. Default: false.
   */
  readonly scores?: boolean | undefined;
}

interface Content {
  /**
   * Content of the znode. Null if the ACL does not allow this process to read it. For example, one agent in
   * an open group may have restricted its own znode.
   */
  readonly text: string | null;
  readonly stat: Stat;
}

/**
 * Reads a group. Throws PetrelError INVALID if there is no group at the root, and StoreError if reading
 * fails.
 */
export async function readGroup(
  { store, paths, rules }: GroupReading,
  options: ReadGroupOptions = {},
): Promise<GroupView> {
  const watch = options.watch !== undefined;
  const content = (path: string) => readContent(store, path, watch);
  const [configRead, elected, current, seatNames, nodeNames, history, next, reporting] = await Promise.all([
    content(paths.config),
    content(paths.elected),
    readIfAllowed(store, paths.current, watch),
    readChildren(store, paths.election, watch),
    readChildren(store, paths.nodes, watch),
    content(paths.history),
    readIfAllowed(store, paths.successor, watch),
    options.scores === true ? readChildren(store, paths.scores, false) : null,
  ]);
  if (configRead === null && nodeNames === null) throw await noGroup(store, paths);
  const config = versioned(configRead, parseGroupConfig);
  const decided = versioned(elected, (text) => parseJson(electedSchema, text));
  const others = await readOthers(store, paths, decided.value?.slots ?? 1, watch);
  const names = others.length === 0 ? nodeNames : await readChildren(store, paths.nodes, watch);
  const scored = isScoring(config.value, rules) ? names : reporting;
  const [seats, registrations, scores] = await Promise.all([
    readSeats(store, paths, seatNames ?? []),
    readRegistrations(store, paths, names ?? [], options.watch === 'all'),
    readScores(store, paths, scored ?? []),
  ]);
  const neighbour = await readNeighbour(store, config.value, paths, watch);
  const slots = others.map(({ slot, elected: text, current: claim }): SlotState => {
    return {
      slot,
      elected: versioned(text, (content) => parseJson(electedSchema, content)),
      current: claim === null ? null : claimOf(claim),
    };
  });
  const view = {
    paths,
    rules,
    config,
    elected: decided,
    current: current === null ? null : claimOf(current),
    others: slots,
    seats,
    members: membersOf(registrations, seats, scores),
    neighbour,
    history: history === null ? null : versioned(history, (text) => parseJson(historyHeadSchema, text)),
    successor: next === null ? null : versioned(next, (text) => parseJson(successorSchema, text)),
    self: null,
    seat: null,
  };
  const inOthers = others.flatMap((slot) => [slot.elected, slot.current]);
  const stats = [
    ...[configRead, elected, current, history, next, ...inOthers],
    ...registrations.map(([, entry]) => entry),
  ];
  return {
    ...view,
    problems: [
      ...problemsOf(view, seatNames ?? []),
      ...scoreProblems(paths, scores),
      ...strategyProblems(paths, view.config.value, view.members),
      ...sizeProblems(view.config.value, view.members.length).map((problem) => {
        return { path: paths.config, node: null, problem };
      }),
    ],
    newestChangeMs: Math.max(0, ...stats.map((entry) => entry?.stat.mtimeMs ?? 0)),
  };
}

interface SlotRead {
  readonly slot: number;
  readonly elected: Content | null;
  readonly current: Content | null;
}

/** Reads the slots other than the first. */
async function readOthers(
  store: Store,
  paths: GroupPaths,
  slots: number,
  watch: boolean,
): Promise<SlotRead[]> {
  const numbers = Array.from({ length: slots - 1 }, (_, index) => index + 2);
  const reads = numbers.map(async (slot): Promise<SlotRead> => {
    const own = pathsOfSlot(paths, slot);
    const [elected, current] = await Promise.all([
      readContent(store, own.elected, watch),
      readContent(store, own.current, watch),
    ]);
    return { slot, elected, current };
  });
  return await Promise.all(reads);
}

/**
 * Reads a znode. Returns null if the znode does not exist. In that case, its creation is watched if `watch`
 * is true.
 */
async function readContent(store: Store, path: string, watch: boolean): Promise<Content | null> {
  return readOrAbsent(store, path, watch, async () => {
    const { data, stat } = await store.getData(path, { watch });
    return { text: data.toString('utf8'), stat };
  });
}

/**
 * Reads a znode like `readContent`. If the ACL forbids reading, returns only the stat, so that the rest of
 * the group stays visible.
 */
async function readIfAllowed(store: Store, path: string, watch: boolean): Promise<Content | null> {
  try {
    return await readContent(store, path, watch);
  } catch (error) {
    if (!isStoreError(error, 'NO_AUTH')) throw error;
    const stat = await store.exists(path, { watch });
    return stat === null ? null : { text: null, stat };
  }
}

async function readChildren(store: Store, path: string, watch: boolean): Promise<string[] | null> {
  return readOrAbsent(store, path, watch, async () => (await store.getChildren(path, { watch })).children);
}

async function readOrAbsent<T>(
  store: Store,
  path: string,
  watch: boolean,
  read: () => Promise<T>,
): Promise<T | null> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!isStoreError(error, 'NO_NODE')) throw error;
    }
    if (!watch || (await store.exists(path, { watch })) === null) return null;
  }
}

async function readSeats(store: Store, paths: GroupPaths, names: readonly string[]): Promise<Seat[]> {
  const seats = seatsInOrder(names);
  const stats = await Promise.all(seats.map(({ name }) => store.exists(paths.seat(name))));
  return seats.flatMap((seat, index) => {
    const stat = stats[index] ?? null;
    return stat === null ? [] : [{ ...seat, owner: stat.ephemeralOwner, version: stat.version }];
  });
}

async function readRegistrations(
  store: Store,
  paths: GroupPaths,
  names: readonly string[],
  watch: boolean,
): Promise<[string, Content][]> {
  const entries = await Promise.all(
    names.toSorted().map(async (name): Promise<[string, Content | null]> => {
      return [name, await readIfAllowed(store, paths.node(name), watch)];
    }),
  );
  return entries.flatMap(([name, content]): [string, Content][] =>
    content === null ? [] : [[name, content]],
  );
}

function isScoring(config: GroupConfig | null, rules: Rules): boolean {
  return config !== null && usesScores(config, rules);
}

type Reports = ReadonlyMap<string, Parsed<ScoreReport>>;

/** Reads the nodes' scores, keyed by node. Nodes that report no scores are missing from the result. */
async function readScores(store: Store, paths: GroupPaths, nodes: readonly string[]): Promise<Reports> {
  const reads = nodes.toSorted().map(async (node): Promise<[string, Parsed<ScoreReport>][]> => {
    try {
      const content = await readContent(store, paths.score(node), false);
      return content?.text == null ? [] : [[node, parseJson(scoreReportSchema, content.text)]];
    } catch (error) {
      if (!isStoreError(error, 'NO_AUTH')) throw error;
      return [[node, { value: null, problem: 'its ACL does not allow reading it' }]];
    }
  });
  return new Map((await Promise.all(reads)).flat());
}

function membersOf(
  registrations: readonly [string, Content][],
  seats: readonly Seat[],
  reports: Reports,
): Member[] {
  return registrations.map(([node, content]) => {
    const owner = content.stat.ephemeralOwner;
    const seat = seats.findIndex((one) => one.owner === owner && one.node === node);
    const registration = versioned(content, (text) => parseJson(registrationSchema, text));
    const member = { ...registration, node, owner, seat: seat === -1 ? null : seat };
    return withScores(member, reports.get(node)?.value ?? null);
  });
}

function claimOf(content: Content): Claim {
  const { czxid, ephemeralOwner, ctimeMs } = content.stat;
  return {
    ...versioned(content, (text) => parseJson(claimSchema, text)),
    token: czxid,
    owner: ephemeralOwner,
    createdAtMs: ctimeMs,
  };
}

const forbidden = { value: null, problem: 'its ACL does not allow reading it' } as const;
/**
 * Stands for a missing znode. No znode has version -1, and the store does not accept it as an expected
 * version. A write that is based on a missing znode therefore always fails.
 */
const absent = { value: null, problem: 'the znode does not exist', version: -1, modifiedAtMs: 0 } as const;

function versioned<T>(content: Content | null, parse: (text: string) => Parsed<T>): Versioned<T> {
  if (content === null) return absent;
  const read = content.text === null ? forbidden : parse(content.text);
  return { ...read, version: content.stat.version, modifiedAtMs: content.stat.mtimeMs };
}

function problemsOf(
  view: Omit<GroupView, 'problems' | 'newestChangeMs'>,
  seatNames: readonly string[],
): Problem[] {
  const { paths, config, history, successor = null, members, seats } = view;
  const unreadable = (path: string, part: Versioned<unknown> | null, node: string | null = null) =>
    part === null || part.problem === null
      ? []
      : [{ path, node, problem: `cannot be read: ${part.problem}` }];
  const registered = new Set(members.map(({ owner }) => owner));
  return [
    ...unreadable(paths.config, config),
    ...slotStates(view).flatMap(({ slot, elected, current }) => [
      ...unreadable(pathsOfSlot(paths, slot).elected, elected),
      ...unreadable(pathsOfSlot(paths, slot).current, current),
    ]),
    ...unreadable(paths.history, history),
    ...unreadable(paths.successor, successor),
    ...members.flatMap((member) => [
      ...unreadable(paths.node(member.node), member, member.node),
      ...sessionless(paths.node(member.node), member),
    ]),
    ...seatNames
      .filter((name) => parseSeatName(name) === null)
      .map((name) => ({
        path: paths.seat(name),
        node: null,
        problem: 'is not an election znode: its name does not end in a sequence number',
      })),
    ...seats.flatMap((seat) => [
      ...unregistered(paths.seat(seat.name), seat, registered),
      ...sessionless(paths.seat(seat.name), seat),
    ]),
    ...slotStates(view).flatMap(({ slot, current }) => {
      if (current === null) return [];
      const owned = { node: current.value?.node ?? null, owner: current.owner };
      return unregistered(pathsOfSlot(paths, slot).current, owned, registered);
    }),
  ];
}

function scoreProblems(paths: GroupPaths, reports: Reports): Problem[] {
  return [...reports].flatMap(([node, { problem }]) =>
    problem === null ? [] : [{ path: paths.score(node), node, problem: `cannot be read: ${problem}` }],
  );
}

interface Owned {
  readonly node: string | null;
  readonly owner: SessionId;
}

function unregistered(path: string, { node, owner }: Owned, registered: ReadonlySet<SessionId>): Problem[] {
  if (owner === 0n || registered.has(owner)) return [];
  return [{ path, node, problem: `its owner, session ${sessionText(owner)}, is not registered` }];
}

function sessionless(path: string, { node, owner }: Owned): Problem[] {
  return owner === 0n
    ? [{ path, node, problem: 'belongs to no session and therefore never expires: evict the node' }]
    : [];
}

export function sessionText(session: SessionId): string {
  return `0x${session.toString(16)}`;
}

/** Returns the same group with other rules for judging it. */
export function underRules(view: GroupView, rules: Rules): GroupView {
  const whole = view.whole === undefined ? {} : { whole: underRules(view.whole, rules) };
  return { ...view, ...whole, rules };
}

/** Returns the group as it would be under another configuration. */
export function underConfig(view: GroupView, config: GroupConfig): GroupView {
  const { version, modifiedAtMs } = view.config;
  const whole = view.whole === undefined ? {} : { whole: underConfig(view.whole, config) };
  return { ...view, ...whole, config: { value: config, problem: null, version, modifiedAtMs } };
}
