/**
 * Records what the tree contains, and the simulated instants of its changes. The ledger is built from
 * commits. The rules judge by it.
 */

import type { Database } from '../../src/embedded/database.js';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import { type GroupPaths, pathsOfSlot } from '../../src/model/paths.js';
import { type Registration, registrationSchema } from '../../src/model/registration.js';
import {
  type ClaimContent,
  claimSchema,
  type Elected,
  electedSchema,
  type Successor,
  successorSchema,
} from '../../src/model/znodes.js';
import type { Commit } from './ensemble.js';

interface Seen<T> {
  readonly content: T;
  /** Distinguishes a znode from a later znode at the same path. */
  readonly id: bigint;
  readonly owner: bigint;
  readonly version: number;
  readonly sinceMs: number;
  readonly changedMs: number;
}

export interface RegistrationSeen extends Seen<Registration> {
  /** Instant at which the node became unhealthy. Null while the node reports that it is healthy. */
  readonly illSinceMs: number | null;
  /**
   * Instant at which the node was last unhealthy. -Infinity if it has not been unhealthy during this
   * registration.
   */
  readonly lastIllMs: number;
  readonly leavingSinceMs: number | null;
  /**
   * The previous registration, if the same session made it. In that case, it was deleted by hand. Otherwise
   * null.
   */
  readonly before: { readonly sinceMs: number; readonly goneMs: number } | null;
}

/**
 * Returns the instant since which a node has been present. A registration that is deleted and created again
 * within `blinkMs` counts as never deleted, because no node can have noticed.
 */
export function presentSinceMs({ sinceMs, before }: RegistrationSeen, blinkMs: number): number {
  return before !== null && sinceMs - before.goneMs < blinkMs ? before.sinceMs : sinceMs;
}

export interface ClaimSeen extends Seen<ClaimContent> {
  readonly readySinceMs: number | null;
}

export interface SeatSeen {
  readonly name: string;
  readonly node: string;
  readonly sequence: number;
  readonly owner: bigint;
  readonly id: bigint;
  readonly sinceMs: number;
}

/** State of one slot. */
export interface SlotSeen {
  readonly slot: number;
  readonly elected: Seen<Elected> | null;
  readonly claim: ClaimSeen | null;
  /**
   * Number of changes of the decision. `claims` is the number of changes of the claim. Equal contents at two
   * instants do not prove that there was no change in between.
   */
  readonly decisions: number;
  readonly claims: number;
}

/** The tree as seen by one slot. */
export interface Picture extends SlotSeen {
  readonly others: readonly SlotSeen[];
  readonly config: Seen<GroupConfig> | null;
  readonly successor: Seen<Successor> | null;
  readonly registrations: ReadonlyMap<string, RegistrationSeen>;
  /** Existing seats in ascending order. The elector's seat comes first. */
  readonly seats: readonly SeatSeen[];
  /**
   * Instant since which the elector has been the elector. An elector that released its seat and got another
   * lowest one counts as elector throughout.
   */
  readonly electorSinceMs: number;
}

const untouched = { elected: null, claim: null, decisions: 0, claims: 0 };

/** Returns all slots that have ever existed. The picture's own slot comes first. */
export function slotsIn(picture: Picture): readonly SlotSeen[] {
  const { slot, elected, claim, decisions, claims, others } = picture;
  return [{ slot, elected, claim, decisions, claims }, ...others];
}

/** Caches views, so that equal calls get the identical picture. */
const views = new WeakMap<Picture, Map<number, Picture>>();

/** Returns a picture of the first slot as seen by another slot. */
export function inSlot(picture: Picture, slot: number): Picture {
  if (slot === picture.slot) return picture;
  const known = views.get(picture) ?? new Map<number, Picture>();
  views.set(picture, known);
  const states = slotsIn(picture);
  const own = states.find((state) => state.slot === slot) ?? { slot, ...untouched };
  const view = known.get(slot) ?? { ...picture, ...own, others: states.filter((state) => state !== own) };
  known.set(slot, view);
  return view;
}

interface Parser<T> {
  safeParse(json: unknown): { success: true; data: T } | { success: false };
}

export class Ledger {
  picture: Picture = {
    slot: 1,
    ...untouched,
    others: [],
    config: null,
    successor: null,
    registrations: new Map(),
    seats: [],
    electorSinceMs: 0,
  };
  readonly #paths: GroupPaths;
  /** Sessions that have written and have not ended. Reads need a live session. */
  readonly #living = new Set<bigint>();
  /** The last registration of each node that was deleted. */
  readonly #taken = new Map<
    string,
    { readonly owner: bigint; readonly sinceMs: number; readonly goneMs: number }
  >();

  constructor(paths: GroupPaths) {
    this.#paths = paths;
  }

  take(commit: Commit, nowMs: number): void {
    const [before] = this.picture.seats;
    this.#take(commit, nowMs);
    if (this.picture.seats[0]?.owner !== before?.owner)
      this.picture = { ...this.picture, electorSinceMs: nowMs };
  }

  #take({ transaction, truth, changes }: Commit, nowMs: number): void {
    if (transaction.kind === 'write') this.#living.add(transaction.session);
    if (transaction.kind === 'close') {
      this.#living.delete(transaction.session);
      this.#close(transaction.session, truth, nowMs);
      return;
    }
    for (const path of new Set(changes.map((change) => change.path))) this.#look(truth, path, nowMs);
  }

  #close(session: bigint, truth: Database, nowMs: number): void {
    const { registrations, seats } = this.picture;
    this.picture = {
      ...this.picture,
      registrations: new Map([...registrations].filter(([, { owner }]) => owner !== session)),
      seats: seats.filter(({ owner }) => owner !== session),
    };
    for (const state of slotsIn(this.picture)) {
      if (state.claim?.owner === session) this.#stands({ ...state, claim: null, claims: state.claims + 1 });
      if (this.#living.size > 0) this.#look(truth, pathsOfSlot(this.#paths, state.slot).elected, nowMs);
    }
  }

  #look(database: Database, path: string, nowMs: number): void {
    const [session = 0n] = this.#living;
    const truth = { database, session };
    const paths = this.#paths;
    const { picture } = this;
    if (path === paths.config)
      this.picture = { ...picture, config: seen(truth, path, groupConfigSchema, picture.config, nowMs) };
    else if (path === paths.successor)
      this.picture = {
        ...picture,
        successor: seen(truth, path, successorSchema, picture.successor, nowMs),
      };
    else if (path.startsWith(paths.elected)) this.#decided(truth, path, nowMs);
    else if (path.startsWith(paths.current)) this.#claimed(truth, path, nowMs);
    else if (path.startsWith(`${paths.nodes}/`)) this.#registered(truth, path, nowMs);
    else if (path.startsWith(`${paths.election}/`)) this.#seated(truth, path, nowMs);
  }

  #stateOf(slot: number): SlotSeen {
    return slotsIn(this.picture).find((state) => state.slot === slot) ?? { slot, ...untouched };
  }

  #stands(state: SlotSeen): void {
    const { picture } = this;
    if (state.slot === picture.slot) this.picture = { ...picture, ...state };
    else {
      const others = picture.others.filter(({ slot }) => slot !== state.slot);
      this.picture = { ...picture, others: [...others, state].toSorted((a, b) => a.slot - b.slot) };
    }
  }

  #decided(truth: Truth, path: string, nowMs: number): void {
    const state = this.#stateOf(slotAt(path, this.#paths.elected));
    const elected = seen(truth, path, electedSchema, state.elected, nowMs);
    this.#stands({ ...state, elected, decisions: state.decisions + (elected === state.elected ? 0 : 1) });
  }

  #claimed(truth: Truth, path: string, nowMs: number): void {
    const state = this.#stateOf(slotAt(path, this.#paths.current));
    const claim = seen(truth, path, claimSchema, state.claim, nowMs);
    const isSame = state.claim?.id === claim?.id;
    const before = isSame ? (state.claim?.readySinceMs ?? null) : null;
    const isReady = claim?.content.status === 'READY';
    this.#stands({
      ...state,
      claims: state.claims + (isSame ? 0 : 1),
      claim: claim === null ? null : { ...claim, readySinceMs: isReady ? (before ?? nowMs) : null },
    });
  }

  #registered(truth: Truth, path: string, nowMs: number): void {
    const node = path.slice(this.#paths.nodes.length + 1);
    const before = this.picture.registrations.get(node) ?? null;
    const now = seen(truth, path, registrationSchema, before, nowMs);
    const registrations = new Map(this.picture.registrations);
    this.picture = { ...this.picture, registrations };
    if (now === null) {
      registrations.delete(node);
      if (before !== null) this.#taken.set(node, { ...before, goneMs: nowMs });
      return;
    }
    const known = before?.id === now.id ? before : null;
    const taken = this.#taken.get(node);
    const isIll = !now.content.health.ok;
    registrations.set(node, {
      ...now,
      illSinceMs: isIll ? (known?.illSinceMs ?? nowMs) : null,
      lastIllMs: isIll || known?.illSinceMs != null ? nowMs : (known?.lastIllMs ?? Number.NEGATIVE_INFINITY),
      leavingSinceMs: now.content.draining ? (known?.leavingSinceMs ?? nowMs) : null,
      before: known?.before ?? (taken?.owner === now.owner ? taken : null),
    });
  }

  #seated(truth: Truth, path: string, nowMs: number): void {
    const name = path.slice(this.#paths.election.length + 1);
    const seats = this.picture.seats.filter((seat) => seat.name !== name);
    const read = readZnode(truth, path);
    if (read !== null) {
      const [node, sequence] = splitSeat(name);
      const { ephemeralOwner: owner, czxid: id } = read.stat;
      seats.push({ name, node, sequence, owner, id, sinceMs: nowMs });
    }
    this.picture = { ...this.picture, seats: seats.toSorted(bySequence) };
  }
}

/** Returns the slot of a znode, given the znode's path and the path of the first slot's znode. */
export function slotAt(path: string, first: string): number {
  return path === first ? 1 : Number(path.slice(first.length + 1));
}

function splitSeat(name: string): [string, number] {
  const [, node = name, digits] = /^(.*[A-Za-z0-9])-(-\d{9,10}|\d{10})$/.exec(name) ?? [];
  return [node, Number(digits)];
}

/** Compares seats. The sequence counter may have wrapped between any two existing seats. */
function bySequence(one: SeatSeen, other: SeatSeen): number {
  const apart = one.sequence - other.sequence;
  const isAround = Math.abs(apart) > 2 ** 31;
  if (apart !== 0) return isAround ? -apart : apart;
  return one.name < other.name ? -1 : 1;
}

/** The tree as a live session can read it. */
export interface Truth {
  readonly database: Database;
  readonly session: bigint;
}

export function readZnode({ database, session }: Truth, path: string) {
  try {
    const reader = { watcher: 0, identities: [], sessionId: session };
    const { data, stat } = database.getData(path, reader, false);
    return { text: data?.toString('utf8') ?? '', stat };
  } catch {
    return null;
  }
}

/** Returns a znode's content and times. Null if the znode is missing or malformed. */
function seen<T>(
  truth: Truth,
  path: string,
  parser: Parser<T>,
  before: Seen<T> | null,
  nowMs: number,
): Seen<T> | null {
  const read = readZnode(truth, path);
  if (read === null) return null;
  const { czxid: id, ephemeralOwner: owner, version } = read.stat;
  if (before !== null && before.id === id && before.version === version) return before;
  try {
    const parsed = parser.safeParse(JSON.parse(read.text || '{}'));
    if (!parsed.success) return null;
    const sinceMs = before?.id === id ? before.sinceMs : nowMs;
    return { content: parsed.data, id, owner, version, sinceMs, changedMs: nowMs };
  } catch {
    return null;
  }
}
