/** Agents of several groups that share one session. */

import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { Agent } from '../../src/agent/agent.js';
import { systemHost } from '../../src/agent/session/process-life.js';
import { SharedSession } from '../../src/agent/session/shared-session.js';
import { Turns } from '../../src/agent/session/sharing.js';
import { openAcl, permissions } from '../../src/model/acl.js';
import { groupPaths } from '../../src/model/paths.js';
import { claimSchema } from '../../src/model/znodes.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { builtInRules } from '../../strategies/index.js';
import { connect, deleteTree } from '../support/agent-group.js';
import { RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

const log = pino({ level: 'silent' });
const sessionTimeoutMs = 6000;

/** A process that runs an agent in each of several groups. */
class Node implements AsyncDisposable {
  readonly agents = new Map<string, Agent>();
  readonly workloads = new Map<string, RecordingWorkload>();
  readonly rounds = new Map<string, number>();
  readonly stores: Store[] = [];
  readonly ended = new Map<string, unknown>();
  readonly shared: SharedSession;
  readonly #name: string;
  readonly #runs = new Map<string, Promise<void>>();

  constructor(connectString: string, name = 'a1') {
    this.#name = name;
    this.shared = new SharedSession({
      openStore: (session) => {
        const store = connect(connectString, sessionTimeoutMs, session);
        if (session === undefined) this.stores.push(store);
        return store;
      },
      node: name,
      isShared: true,
      memory: null,
      clock: systemClock,
      log,
    });
  }

  get session(): bigint {
    return this.stores.at(-1)?.sessionId ?? 0n;
  }

  add(root: string, workload = new RecordingWorkload()): Agent {
    const agent = new Agent({
      ...this.shared.membership(root),
      root,
      node: this.#name,
      site: 'here',
      priority: 100,
      tags: {},
      rules: builtInRules,
      version: 'test',
      workload,
      workloadPlace: 'inside',
      clock: systemClock,
      log,
      host: systemHost,
    });
    agent.onEvent(({ kind }) => {
      if (kind === 'round') this.rounds.set(root, (this.rounds.get(root) ?? 0) + 1);
    });
    this.agents.set(root, agent);
    this.workloads.set(root, workload);
    const ended = (error: unknown) => void this.ended.set(root, error);
    this.#runs.set(
      root,
      agent.run().then(() => ended(null), ended),
    );
    return agent;
  }

  async leading(...roots: string[]): Promise<void> {
    await until(() => roots.every((root) => this.agents.get(root)?.status.leads === true), {
      timeoutMs: 20_000,
      describe: `${this.#name} to lead ${roots.join(', ')}`,
    });
  }

  async leave(root: string): Promise<void> {
    this.agents.get(root)?.stop();
    this.agents.get(root)?.stop();
    await this.#runs.get(root);
    this.agents.delete(root);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.agents.keys()].map((root) => this.leave(root)));
  }
}

/** Returns the paths of the znodes in a group that the session owns. */
async function owned(store: Store, root: string, session: bigint): Promise<string[]> {
  const paths = groupPaths(root);
  const below = async (path: string) =>
    (await store.getChildren(path)).children.map((name) => `${path}/${name}`);
  const all = [
    ...(await below(paths.nodes)),
    ...(await below(paths.election)),
    ...(await below(paths.leader)),
  ];
  const stats = await Promise.all(all.map((path) => store.exists(path)));
  return all.filter((_, index) => stats[index]?.ephemeralOwner === session);
}

/** Waits until no agent has read its group for some time. */
async function quiet(node: Node): Promise<void> {
  let before = new Map<string, number>();
  const isQuiet = () => {
    const isSame = roots.every((root) => node.rounds.get(root) === before.get(root));
    before = new Map(node.rounds);
    return isSame;
  };
  await until(isQuiet, { intervalMs: 1_500, timeoutMs: 20_000 });
}

const roots = ['/services/a', '/services/b', '/services/c'] as const;

describe('groups that share a session', () => {
  it('are led under one renewal an interval, and a change in one wakes no other', async () => {
    await using server = await startDevelopmentServer();
    await using node = new Node(server.connectString);
    await using client = disposable(connect(server.connectString));
    await client.store.connected();
    for (const root of roots) node.add(root);
    await node.leading(...roots);
    expect(node.stores).toHaveLength(1);
    const counted = () => server.requestCounts().get(node.session)?.requests ?? {};
    await quiet(node);
    const [before, beganAtMs, rounds] = [counted().multi ?? 0, performance.now(), new Map(node.rounds)];
    await until(() => (counted().multi ?? 0) - before >= 8);
    const intervals = (performance.now() - beganAtMs) / (sessionTimeoutMs / 12);
    expect((counted().multi ?? 0) - before).toBeLessThan(1.5 * intervals + 3);
    expect(node.rounds).toEqual(rounds);
    await client.store.set('/services/a/config', Buffer.from('{"minLeadership":"1s"}'), 'any');
    await until(() => (node.rounds.get('/services/a') ?? 0) > (rounds.get('/services/a') ?? 0));
    expect(node.rounds.get('/services/b')).toBe(rounds.get('/services/b'));
    expect(node.rounds.get('/services/c')).toBe(rounds.get('/services/c'));
  });

  it('observe that a claim is gone, and the others go on', async () => {
    await using server = await startDevelopmentServer();
    await using node = new Node(server.connectString);
    await using client = disposable(connect(server.connectString));
    await client.store.connected();
    for (const root of roots) node.add(root);
    await node.leading(...roots);
    const token = node.agents.get('/services/b')?.status.fencingToken;
    await client.store.delete('/services/a/leader/current', 'any');
    await until(async () => (node.workloads.get('/services/a')?.runs.length ?? 0) >= 3);
    await node.leading(...roots);
    expect(node.agents.get('/services/b')?.status.fencingToken).toBe(token);
  });

  it('are all taken up in one new session when theirs is lost', async () => {
    await using server = await startDevelopmentServer();
    await using node = new Node(server.connectString);
    for (const root of roots) node.add(root);
    await node.leading(...roots);
    const first = node.session;
    server.expireSession(first);
    await until(() => node.stores.length === 2 && node.session !== first && node.session !== 0n);
    await node.leading(...roots);
    expect(node.stores).toHaveLength(2);
    for (const root of roots) {
      const claim = await node.stores[1]?.getData(groupPaths(root).current);
      expect(claimSchema.parse(JSON.parse(String(claim?.data))).status).toBe('READY');
      expect(claim?.stat.ephemeralOwner).toBe(node.session);
    }
  });

  it('are left one by one, with all that the session owns of them; the last ends the session', async () => {
    await using server = await startDevelopmentServer();
    await using node = new Node(server.connectString);
    await using client = disposable(connect(server.connectString));
    await client.store.connected();
    for (const root of roots) node.add(root);
    await node.leading(...roots);
    const { session } = node;
    await node.leave('/services/a');
    expect(await owned(client.store, '/services/a', session)).toEqual([]);
    expect(await owned(client.store, '/services/b', session)).toHaveLength(3);
    expect(node.agents.get('/services/b')?.status.leads).toBe(true);
    node.add('/services/a');
    await node.leading(...roots);
    for (const root of roots) await node.leave(root);
    expect(node.stores.map(({ state }) => state)).toEqual(['CLOSED']);
    expect(await owned(client.store, '/services/c', session)).toEqual([]);
  });

  it('keep the claim of one whose work may live, until the session has expired', async () => {
    await using server = await startDevelopmentServer();
    await using node = new Node(server.connectString);
    await using client = disposable(connect(server.connectString));
    await client.store.connected();
    const stuck = new RecordingWorkload();
    stuck.close = async () => false;
    node.add('/services/a', stuck);
    node.add('/services/b');
    await node.leading('/services/a', '/services/b');
    const { session } = node;
    let end = () => {};
    stuck.does('release', () => new Promise<void>((resolve) => (end = resolve)));
    node.agents.get('/services/a')?.stop();
    await until(() => stuck.runs.some(({ context }) => context.phase === 'release'));
    const store = node.agents.get('/services/a')?.session;
    await store?.close({ abandon: true });
    expect(node.shared.isUnproven('/services/a')).toBe(true);
    expect(await owned(client.store, '/services/a', session)).toContain('/services/a/leader/current');
    expect(node.agents.get('/services/b')?.status.leads).toBe(true);
    await node.leave('/services/b');
    expect(await owned(client.store, '/services/b', session)).toEqual([]);
    expect(await client.store.exists('/services/a/leader/current')).not.toBeNull();
    await until(async () => (await client.store.exists('/services/a/leader/current')) === null);
    end();
  });

  it('do not suffer from one that ZooKeeper refuses', async () => {
    await using server = await startDevelopmentServer();
    await using node = new Node(server.connectString);
    await using client = disposable(connect(server.connectString));
    await client.store.connected();
    await client.store.create('/services', Buffer.alloc(0), 'persistent');
    await client.store.create('/services/a', Buffer.alloc(0), 'persistent');
    const readers = {
      permissions: permissions.read | permissions.admin,
      identity: { scheme: 'world', id: 'anyone' },
    } as const;
    await client.store.setAcl('/services/a', [readers], 'any');
    for (const root of roots) node.add(root);
    await until(() => node.ended.has('/services/a'));
    expect(node.ended.get('/services/a')).toMatchObject({ code: 'FORBIDDEN' });
    await node.leading('/services/b', '/services/c');
    expect(node.stores.map(({ state }) => state)).toEqual(['CONNECTED']);
    await client.store.setAcl('/services/a', openAcl, 'any');
    node.add('/services/a');
    await node.leading('/services/a');
    await deleteTree(client.store, '/services/c');
    await until(() =>
      node.workloads.get('/services/c')?.runs.some(({ context }) => context.phase === 'release'),
    );
    expect(node.agents.get('/services/b')?.status.leads).toBe(true);
  });
});

describe('turns', () => {
  it('come in order, and one that is not wanted any more is passed over', async () => {
    const turns = new Turns(1);
    const came: number[] = [];
    const [first, second, third] = [1, 2, 3].map((number) => {
      const turn = turns.take();
      void turn.come.then(() => came.push(number));
      return turn;
    });
    await first?.come;
    second?.end();
    expect(came).toEqual([1]);
    first?.end();
    first?.end();
    await third?.come;
    expect(came).toEqual([1, 3]);
    third?.end();
    await turns.take().come;
  });
});

function disposable(store: Store): AsyncDisposable & { readonly store: Store } {
  return { store, [Symbol.asyncDispose]: async () => void (await store.close()) };
}
