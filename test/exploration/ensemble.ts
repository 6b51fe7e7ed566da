/**
 * Models the ensemble. It applies a multi as ZooKeeper does, all or nothing, and fires watches. The
 * operations mirror those that `src/agent` sends.
 */
import { defaultGroupConfig } from '../../src/model/group-config.js';
import type { Claim, SessionId, Versioned } from '../../src/model/snapshot.js';
import { initialElected, initialHistoryHead } from '../../src/model/znodes.js';
import { epoch0Ms } from '../core/builders.js';
import type { Agent, Answer, Check, Operation, Request, Tree, World } from './world.js';

/** Stands for no check of a version. Only a sabotage sends it. */
export const anyVersion = -1;

interface Draft {
  readonly tree: Tree;
  readonly token: bigint;
  readonly seat: number | null;
}

function versioned<T>(value: T, version: number, modifiedAtMs: number): Versioned<T> {
  return { value, problem: null, version, modifiedAtMs };
}

function holds(tree: Tree, check: Check): boolean {
  switch (check.check) {
    case 'seat':
      return tree.seats.some(({ id }) => id === check.id);
    case 'config':
      return tree.config?.version === check.version;
    case 'elected':
      return tree.elected?.version === check.version;
    case 'current':
      return tree.current?.version === check.version;
    case 'member':
      return tree.members.some(({ node, version }) => node === check.node && version === check.version);
    case 'successor':
      return tree.successor?.version === check.version;
  }
}

/** Returns the tree after one operation. Null if the operation fails. */
function perform(draft: Draft, operation: Operation, owner: SessionId, atMs: number): Tree | null {
  const { tree } = draft;
  if ('check' in operation) return holds(tree, operation) ? tree : null;
  if ('delete' in operation) return performDelete(tree, operation);
  if ('create' in operation) return performCreate(draft, operation, owner, atMs);
  if (operation.set === 'seat') return tree.seats.some(({ id }) => id === operation.id) ? tree : null;
  const { version } = operation;
  switch (operation.set) {
    case 'member': {
      const found = tree.members.find(({ node }) => node === operation.node);
      if (found === undefined || (version !== null && found.version !== version)) return null;
      const next = { ...found, ...versioned(operation.value, found.version + 1, atMs) };
      return { ...tree, members: tree.members.map((one) => (one === found ? next : one)) };
    }
    case 'current': {
      const { current } = tree;
      if (current === null || current.version !== version) return null;
      const next: Claim = { ...current, ...versioned(operation.value, current.version + 1, atMs) };
      return { ...tree, current: next };
    }
    case 'elected':
      if (tree.elected === null || (version !== anyVersion && tree.elected.version !== version)) return null;
      return { ...tree, elected: versioned(operation.value, tree.elected.version + 1, atMs) };
    case 'successor': {
      if ((tree.successor?.version ?? null) !== operation.version) return null;
      const next = operation.version === null ? 0 : operation.version + 1;
      return { ...tree, successor: versioned(operation.value, next, atMs) };
    }
    case 'history':
      if (tree.history?.version !== version) return null;
      return { ...tree, history: versioned(operation.value, version + 1, atMs) };
    case 'config':
      if (tree.config?.version !== version) return null;
      return { ...tree, config: versioned(operation.value, version + 1, atMs) };
  }
}

function performCreate(
  { tree, token, seat }: Draft,
  operation: Extract<Operation, { create: unknown }>,
  owner: SessionId,
  atMs: number,
): Tree | null {
  switch (operation.create) {
    case 'current': {
      if (tree.current !== null) return null;
      const made = versioned(operation.value, 0, atMs);
      return { ...tree, current: { ...made, token, owner, createdAtMs: atMs } };
    }
    case 'member': {
      const { value } = operation;
      if (tree.members.some(({ node }) => node === value.node)) return null;
      const made = { ...versioned(value, 0, atMs), node: value.node, owner, seat: null };
      const members = [...tree.members, made].toSorted((a, b) => (a.node < b.node ? -1 : 1));
      return { ...tree, members };
    }
    case 'seat':
      return { ...tree, seats: [...tree.seats, { id: seat ?? 0, node: operation.node, owner }] };
    case 'tree':
      return {
        ...tree,
        config: tree.config ?? versioned(defaultGroupConfig, 0, atMs),
        elected: tree.elected ?? versioned(initialElected, 0, atMs),
        history: tree.history ?? versioned(initialHistoryHead, 0, atMs),
      };
  }
}

function performDelete(tree: Tree, operation: Extract<Operation, { delete: unknown }>): Tree | null {
  switch (operation.delete) {
    case 'current':
      return tree.current?.version === operation.version ? { ...tree, current: null } : null;
    case 'member': {
      const { node, version } = operation;
      const found = tree.members.find((one) => one.node === node);
      if (found === undefined || (version !== null && found.version !== version)) return null;
      return { ...tree, members: tree.members.filter((one) => one !== found) };
    }
    case 'seat': {
      const seats = tree.seats.filter(({ id }) => id !== operation.id);
      return seats.length === tree.seats.length ? null : { ...tree, seats };
    }
  }
}

export interface Applied {
  readonly world: World;
  /** The reply. Null if a check failed and nothing was written. */
  readonly answer: Answer | null;
}

/** Applies a request from a live session. */
export function apply(world: World, request: Request, owner: SessionId): Applied {
  const token = world.lastToken + 1n;
  const seat = world.lastSeat;
  let tree = world.tree;
  for (const operation of request.operations) {
    const next = perform({ tree, token, seat }, operation, owner, epoch0Ms + world.nowMs + world.skewMs);
    if (next === null) return { world, answer: null };
    tree = next;
  }
  const made = tree.seats.some(({ id }) => id === seat);
  const written: World = { ...world, tree, lastToken: token, lastSeat: made ? seat + 1 : seat };
  const notified = withNotified(withWatches(written, world.tree), request);
  return { world: notified, answer: { token, seat: made ? seat : null } };
}

/** Wakes the agents to whose seats a request writes. */
function withNotified(world: World, { operations }: Request): World {
  const ids = operations.flatMap((each) => ('set' in each && each.set === 'seat' ? [each.id] : []));
  if (ids.length === 0) return world;
  const agents = world.agents.map((agent) =>
    agent.process === 'up' && agent.seat !== null && ids.includes(agent.seat)
      ? { ...agent, awake: true, notified: true }
      : agent,
  );
  return { ...world, agents };
}

/** Ends a session and deletes everything that it owned. */
export function endSession(world: World, owner: SessionId): World {
  const { tree } = world;
  const next: Tree = {
    ...tree,
    current: tree.current?.owner === owner ? null : tree.current,
    members: tree.members.some((one) => one.owner === owner)
      ? tree.members.filter((one) => one.owner !== owner)
      : tree.members,
    seats: tree.seats.some((one) => one.owner === owner)
      ? tree.seats.filter((one) => one.owner !== owner)
      : tree.seats,
  };
  const ended: World = {
    ...world,
    tree: next,
    sessions: world.sessions.filter(({ id }) => id !== owner),
    adrift: world.adrift.filter(({ session }) => session !== owner),
  };
  return withWatches(ended, tree);
}

/** Wakes the agents whose watches a change fires. `before` is the tree before the change. */
export function withWatches(world: World, before: Tree): World {
  const { tree } = world;
  if (tree === before) return world;
  const agents = world.agents.map((agent) =>
    agent.process === 'up' && !agent.awake && isWoken(agent, before, tree)
      ? { ...agent, awake: true }
      : agent,
  );
  return { ...world, agents };
}

function isWoken({ part, seat }: Agent, before: Tree, after: Tree): boolean {
  if (before.elected !== after.elected) return true;
  if (part >= 1 && (before.config !== after.config || before.current !== after.current)) return true;
  if (part >= 1 && before.successor !== after.successor) return true;
  if (part === 2 && before.members !== after.members) return true;
  if (before.seats === after.seats || seat === null) return false;
  const place = before.seats.findIndex(({ id }) => id === seat);
  const watched = [before.seats[place], before.seats[place - 1]].filter((one) => one !== undefined);
  return watched.some(({ id }) => !after.seats.some((one) => one.id === id));
}
