/**
 * A node's membership in the group within one session: its registration and its seat. Each must be created
 * only once. A request to create a znode may have succeeded even if the reply was lost. The agent therefore
 * checks whether the znode exists before it creates another one.
 */
import type { Rules } from '../../strategies/registry.js';
import { PetrelError } from '../errors.js';
import { encodedText, type Parsed, parseJson, toInstant } from '../model/names.js';
import { constraintKey } from '../model/own-constraint.js';
import { claimPaths, type GroupPaths } from '../model/paths.js';
import {
  type NodeDescription,
  newRegistration,
  type Registration,
  registrationSchema,
} from '../model/registration.js';
import { parseSeatName } from '../model/sequence.js';
import type { Clock } from '../ports/clock.js';
import type { Host } from '../ports/host.js';
import { isStoreError, type Operation, type Stat, type Store } from '../ports/store.js';
import type { Workload } from '../ports/workload.js';
import { forbidden } from '../tree/ensure-tree.js';
import { withRoom } from '../tree/history-room.js';

/** Returns the bytes of a znode's content. */
export function encode(content: unknown): Buffer {
  return Buffer.from(encodedText(content));
}

export interface SelfDescription extends Omit<NodeDescription, 'strategies'> {
  readonly rules: Rules;
  readonly host: Host;
  readonly clock: Clock;
}

/**
 * Returns the part of the registration that says whether the node prepares before it claims. A service may
 * set its functions after its node has joined. From then on, the node no longer prepares.
 */
export function preparing(workload: Workload): Pick<Registration, 'prepares'> {
  return { prepares: workload.has('prepare') || undefined };
}

/** Returns the registration of a new incarnation of this agent. */
export function describe(self: SelfDescription, incarnation: string): Registration {
  const startedAt = toInstant(self.clock.wallMs());
  return newRegistration({ ...self, strategies: ownVersions(self.rules) }, { incarnation, startedAt });
}

/** Returns the versions of users' own strategies and constraints, by name. */
function ownVersions({ strategies, ownConstraints }: Rules): Record<string, string> {
  return Object.fromEntries([
    ...[...strategies.values()].flatMap(({ name, version }) =>
      version === undefined ? [] : [[name, version]],
    ),
    ...[...ownConstraints.values()].map(({ name, version }) => [constraintKey(name), version]),
  ]);
}

/**
 * Returns an operation that checks the node's seat. It rejects a late write by an earlier incarnation, even
 * if everything else is unchanged.
 */
export function checkSeat(paths: GroupPaths, seat: string): Operation {
  return { type: 'check', path: paths.seat(seat), version: 'any' };
}

/** Returns the writes that notify a node at its seats. */
export function notifyingAt(paths: GroupPaths, seats: readonly string[], node: string): Operation[] {
  const data = Buffer.from(node);
  return seats.map((seat) => ({ type: 'set', path: paths.seat(seat), data, version: 'any' }));
}

/** Session of an earlier incarnation that still owns this node's registration. */
export interface EarlierIncarnation {
  readonly session: bigint;
  readonly registration: Registration | null;
}

/**
 * Registers the node, or finds the registration that this session has already made. Returns the earlier
 * incarnation if one still owns the name. The caller must end that incarnation or wait for its end. Throws
 * PetrelError DUPLICATE_NODE if the name belongs to another running agent.
 */
export async function register(
  store: Store,
  paths: GroupPaths,
  registration: Registration,
  host: Host,
): Promise<EarlierIncarnation | null> {
  const path = paths.node(registration.node);
  try {
    await withRoom(store, paths, () => store.create(path, encode(registration), 'ephemeral'));
    return null;
  } catch (error) {
    if (!isStoreError(error, 'NODE_EXISTS')) throw forbidden(error, path, 'register at') ?? error;
  }
  const found = await readRegistration(store, path);
  if (found === null) return await register(store, paths, registration, host);
  const { stat, content } = found;
  if (stat.ephemeralOwner === store.sessionId) {
    await store.set(path, encode(registration), stat.version);
    return null;
  }
  if (content.value?.incarnation === registration.incarnation) {
    await replaceOwn(store, path, stat, registration);
    return null;
  }
  if (content.value !== null && host.isOtherAgent(content.value)) throw duplicate(path, content.value);
  return { session: stat.ephemeralOwner, registration: content.value };
}

async function readRegistration(
  store: Store,
  path: string,
): Promise<{ stat: Stat; content: Parsed<Registration> } | null> {
  try {
    const { data, stat } = await store.getData(path);
    return { stat, content: parseJson(registrationSchema, data.toString('utf8')) };
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
  }
}

/** Replaces this agent's own registration from its previous session, which the ensemble has not ended yet. */
async function replaceOwn(store: Store, path: string, stat: Stat, registration: Registration): Promise<void> {
  await store.multi([
    { type: 'delete', path, version: stat.version },
    { type: 'create', path, data: encode(registration), mode: 'ephemeral' },
  ]);
}

function duplicate(path: string, other: Registration): PetrelError {
  const who = `incarnation ${other.incarnation}, process ${other.pid} on ${other.host}, started ${other.startedAt}`;
  const right = `choose another node id, or stop the other agent. If the other agent is dead, wait until its session expires, or run petrel node evict ${other.node}`;
  return new PetrelError(
    'DUPLICATE_NODE',
    `node id ${other.node} is in use at ${path} by another agent (${who}): ${right}`,
  );
}

/** Takes a seat, unless this session already has one. Returns the seat's name. */
export async function takeSeat(store: Store, paths: GroupPaths, node: string): Promise<string> {
  // This session may have created a seat through another server, and the reply may have been lost. The
  // current server may lag behind that server, but it answers these reads only after the sync.
  const [, held] = await Promise.all([
    store.sync(paths.election),
    heldSeats(store, paths, node, store.sessionId),
  ]);
  const [first, ...others] = held;
  for (const extra of others) await store.delete(paths.seat(extra), 'any');
  if (first !== undefined) return first;
  const prefix = paths.seatPrefix(node);
  try {
    const create = () => store.create(prefix, Buffer.from(node), 'ephemeral-sequential');
    const path = await withRoom(store, paths, create);
    return path.slice(paths.election.length + 1);
  } catch (error) {
    throw forbidden(error, prefix, 'take a seat at') ?? error;
  }
}

/** Returns the seats of `node` that the session owns. */
export async function heldSeats(
  store: Store,
  paths: GroupPaths,
  node: string,
  session: bigint,
): Promise<string[]> {
  const { children } = await store.getChildren(paths.election);
  const own = children.filter((name) => parseSeatName(name)?.node === node).toSorted();
  const stats = await Promise.all(own.map((name) => store.exists(paths.seat(name))));
  return own.filter((_, index) => stats[index]?.ephemeralOwner === session);
}

/**
 * Deletes everything that the session owns in this group. This has the same effect on the group as the end of
 * the session, but the session continues for other groups. Returns false if something is left, because other
 * clients interfered with every attempt. Throws StoreError.
 */
export async function depart(
  store: Store,
  paths: GroupPaths,
  node: string,
  session = store.sessionId,
): Promise<boolean> {
  for (let tries = 0; tries < departTries; tries++) {
    const owned = await ownedBy(store, paths, node, session);
    if (owned.length === 0) return true;
    try {
      await store.multi(owned.map((path) => ({ type: 'delete', path, version: 'any' })));
    } catch (error) {
      if (!isStoreError(error, 'NO_NODE')) throw error;
    }
  }
  return false;
}

const departTries = 5;

async function ownedBy(store: Store, paths: GroupPaths, node: string, session: bigint): Promise<string[]> {
  try {
    const seats = await heldSeats(store, paths, node, session);
    const { children } = await store.getChildren(paths.leader);
    const others = [...claimPaths(paths, children), paths.node(node), paths.score(node)];
    const stats = await Promise.all(others.map((path) => store.exists(path)));
    const held = others.filter((_, index) => stats[index]?.ephemeralOwner === session);
    return [...held, ...seats.map((seat) => paths.seat(seat))];
  } catch (error) {
    // The group's znodes are gone, so nothing is left to delete.
    if (isStoreError(error, 'NO_NODE')) return [];
    throw error;
  }
}
