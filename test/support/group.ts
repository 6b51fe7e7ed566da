/**
 * A group on a real ZooKeeper whose znodes the test writes itself. There are no agents, so only the test
 * changes the group. Each node has its own session.
 */

import type { GroupAccess } from '../../src/group/config-write.js';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import { type GroupPaths, groupPaths, pathsOfSlot } from '../../src/model/paths.js';
import { newRegistration, type Registration } from '../../src/model/registration.js';
import {
  type ClaimContent,
  type Elected,
  type HistoryRecord,
  initialElected,
  type TransitionRecord,
} from '../../src/model/znodes.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store.js';
import { ensureSlots, ensureTree } from '../../src/tree/ensure-tree.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { builtInRules } from '../../strategies/index.js';
import { sharedZooKeeper, uniqueRoot } from './ensemble.js';

export interface TestGroup extends AsyncDisposable {
  readonly zookeeper: string;
  readonly root: string;
  readonly paths: GroupPaths;
  readonly store: Store;
  readonly access: GroupAccess;
  /** Registers a node and gives it a seat. Returns its session. */
  node(id: string, content?: Partial<Registration>): Promise<Store>;
  /** Returns the session of a node. */
  session(id: string): Store;
  configure(config: unknown): Promise<void>;
  elect(elected: Partial<Elected>, slot?: number): Promise<void>;
  /** Creates `leader/current`. The node's session owns it. */
  claim(id: string, content?: Partial<ClaimContent>, slot?: number): Promise<void>;
  /** Appends a record to the history. A string is written unchanged. */
  record(record: HistoryRecord | string): Promise<void>;
  /** Elects a node in the first slot, creates its claim, and makes it READY. */
  lead(id: string, term: number): Promise<void>;
}

/** Creates a group, on the shared ZooKeeper unless `elsewhere` is given. */
export async function newGroup(elsewhere?: string): Promise<TestGroup> {
  const zookeeper = elsewhere ?? (await sharedZooKeeper());
  const root = uniqueRoot('group');
  const paths = groupPaths(root);
  const sessions = new Map<string, Store>();
  const open = async () => {
    const store = openStore({ servers: parseConnectionString(zookeeper), sessionTimeoutMs: 10_000 });
    await store.connected({ timeoutMs: 10_000 });
    return store;
  };
  const store = await open();
  await ensureTree(store, paths);
  const session = (id: string) => {
    const found = sessions.get(id);
    if (found === undefined) throw new Error(`no node ${id}`);
    return found;
  };
  const write = (path: string, value: unknown) => store.set(path, json(value), 'any');
  const group: TestGroup = {
    zookeeper,
    root,
    paths,
    store,
    access: { store, paths, rules: builtInRules, clock: systemClock },
    session,
    async node(id, content = {}) {
      const own = await open();
      sessions.set(id, own);
      await own.create(paths.node(id), json(registration(id, content)), 'ephemeral');
      await own.create(paths.seatPrefix(id), Buffer.from(id), 'ephemeral-sequential');
      return own;
    },
    async configure(config) {
      await write(paths.config, config);
    },
    async elect(elected, slot = 1) {
      await ensureSlots(store, paths, slot);
      await write(pathsOfSlot(paths, slot).elected, {
        ...initialElected,
        strategy: 'site-priority',
        by: 'a1',
        ...elected,
      });
    },
    async claim(id, content = {}, slot = 1) {
      const { current } = pathsOfSlot(paths, slot);
      const own = session(id);
      const site = id.slice(0, 1);
      const claim = {
        node: id,
        site,
        incarnation: id,
        status: 'READY',
        term: 1,
        electedVersion: 1,
        ...content,
      };
      if ((await own.exists(current)) !== null) await own.delete(current, 'any');
      await own.create(current, json(claim), 'ephemeral');
    },
    async record(record) {
      const mode = 'persistent-sequential';
      await store.multi([{ type: 'create', path: paths.historyPrefix, data: json(record), mode }]);
    },
    async lead(id, term) {
      await group.elect({ node: id, site: id.slice(0, 1), term, reason: 'it is the best', cause: 'first' });
      await group.claim(id, { term });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([store, ...sessions.values()].map((each) => each.close()));
    },
  };
  return group;
}

function json(value: unknown): Buffer {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Returns the registration of a healthy node, whose site is the first letter of its name. */
export function registration(node: string, content: Partial<Registration> = {}): Registration {
  const host = { name: 'test', pid: 1 };
  const about = { priority: 100, tags: {}, strategies: {}, version: '0.0.0', host };
  const life = { incarnation: node, startedAt: '2026-01-01T00:00:00.000Z' };
  return { ...newRegistration({ node, site: node.slice(0, 1), ...about }, life), ...content };
}

/** Returns the record of a successful transition that ended two seconds after its decision. */
export function transition(record: Partial<TransitionRecord>): TransitionRecord {
  return {
    kind: 'transition',
    term: 1,
    fencingToken: '7',
    node: 'a1',
    site: 'a',
    previous: null,
    strategy: 'site-priority',
    reason: 'it is the best',
    cause: 'first',
    outcome: 'READY',
    error: null,
    electedAt: '2026-01-01T00:00:00.000Z',
    claimedAt: '2026-01-01T00:00:01.000Z',
    readyAt: '2026-01-01T00:00:02.000Z',
    by: 'a1',
    resumes: null,
    release: null,
    phases: { releaseMs: null, claimMs: 1000, takeoverMs: 1000 },
    ...record,
  };
}

export function config(input: unknown): GroupConfig {
  return groupConfigSchema.parse(input);
}
