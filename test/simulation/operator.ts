/** An operator in the simulated world. The operator runs the shipped commands in a separate session. */

import { PetrelError } from '../../src/errors.js';
import { readAcls, setAcl, toSet } from '../../src/group/access.js';
import { changeGroup, type Request } from '../../src/group/change.js';
import type { GroupAccess } from '../../src/group/config-write.js';
import { evict } from '../../src/group/evict.js';
import { failover, switchover } from '../../src/group/handover.js';
import { clearFailure, drainNode } from '../../src/group/nodes.js';
import { pauseGroup, resumeGroup } from '../../src/group/pause.js';
import { drainSite, markSiteFailed, markSiteHealthy, overridePriority } from '../../src/group/sites.js';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import type { GroupPaths } from '../../src/model/paths.js';
import { parseSeatName } from '../../src/model/sequence.js';
import { isStoreError, type Store } from '../../src/ports/store.js';
import { ensureTree } from '../../src/tree/ensure-tree.js';
import { builtInRules } from '../../strategies/index.js';
import { accessBy, asAgent, type Credentials, type StoreAccess } from './credentials.js';
import { type Act, actText, type Names } from './faults.js';
import type { Process } from './process.js';
import type { World } from './world.js';

/** Delay before a failed attempt is repeated. */
const againMs = 100;
const author = { by: 'ops', reason: 'simulated' };

export class Operator {
  readonly process: Process;
  readonly #world: World;
  readonly #names: Names;
  readonly #paths: GroupPaths;
  readonly #open: (access?: StoreAccess) => Store;
  readonly #sessions = new Set<Store>();
  #store: Store;
  /** Whether an operator has requested the deletion of a claim, or has deleted a claim by hand. */
  mayDelete = false;
  #isMisconfigured = false;
  /** The `tokenEpoch` that the group needs in order to lead. It is raised after each restore. */
  #tokenEpoch = 0;

  /**
   * Creates an operator. `open` opens a session, with the operator's own access by default. The operator
   * calls it at the start, and again whenever the last session has ended.
   */
  constructor(
    world: World,
    process: Process,
    open: (access?: StoreAccess) => Store,
    paths: GroupPaths,
    names: Names,
  ) {
    this.#world = world;
    this.process = process;
    this.#names = names;
    this.#paths = paths;
    this.#open = open;
    this.#store = this.#another();
  }

  /** Whether a session belongs to the operator. */
  owns(session: bigint): boolean {
    return session !== 0n && [...this.#sessions].some(({ sessionId }) => sessionId === session);
  }

  #another(access?: StoreAccess): Store {
    const store = this.#open(access);
    this.#sessions.add(store);
    return store;
  }

  get #access(): GroupAccess {
    if (this.#store.state === 'LOST') this.#store = this.#another();
    return { store: this.#store, paths: this.#paths, rules: builtInRules, clock: this.process.clock };
  }

  /**
   * Creates the group with this configuration. In a group with ACLs, this needs an agent's credentials.
   */
  async found(config: object, credentials: Credentials | null = null): Promise<void> {
    const { paths } = this.#access;
    const store = credentials === null ? this.#store : this.#another(asAgent(credentials, paths));
    await store.connected();
    await ensureTree(store, paths);
    await store.set(paths.config, Buffer.from(JSON.stringify(config)), 'any');
  }

  /** Announces that the ensemble's data is set back, so that fencing tokens have to start over. */
  restored(): void {
    this.#tokenEpoch += 1;
  }

  /** Performs an action. Ignores an error if the action is refused or its reply is lost. */
  do(act: Act): void {
    if (act.do === 'evict dead') this.mayDelete = true;
    this.#world.note(() => `ops: ${actText(act, this.#names)}`);
    this.process.deliver(() => {
      this.#perform(act).catch((error: unknown) => this.#mayFail(error));
    });
  }

  /**
   * Reverts everything that keeps a node from leading. Repeats failed attempts. Calls `done` after the first
   * successful attempt.
   */
  calm(done: () => void): void {
    this.process.deliver(() => {
      this.#takeBack().then(done, (error: unknown) => {
        this.#mayFail(error);
        this.process.clock.timer(againMs, () => this.calm(done));
      });
    });
  }

  async #takeBack(): Promise<void> {
    const undone: Request = ({ config }) => {
      const sites = Object.fromEntries(
        Object.entries(config.sites).map(([name, site]) => [
          name,
          { ...site, drained: null, override: null, failed: null },
        ]),
      );
      return {
        config: {
          ...config,
          sites,
          siteRules: allowing(config),
          drained: {},
          tokenEpoch: Math.max(config.tokenEpoch, this.#tokenEpoch),
          paused: null,
          switchover: null,
        },
        what: 'all is well again',
      };
    };
    try {
      await this.#change(undone);
    } catch (error) {
      // A command refuses to write a configuration with an unknown strategy, so such a configuration must be
      // fixed by hand.
      if (!this.#isMisconfigured || !(error instanceof PetrelError)) throw error;
      await this.#reconfigure();
    }
  }

  /** Writes a configuration by hand whose strategy no node knows. A command would refuse to write it. */
  async #misconfigure(): Promise<void> {
    const { store, paths } = this.#access;
    const { data, stat } = await store.getData(paths.config);
    const config: unknown = JSON.parse(data.toString('utf8') || '{}');
    if (typeof config !== 'object') return;
    // The flag must be set before the write, because the reply to the write may be lost.
    this.#isMisconfigured = true;
    await store.set(paths.config, Buffer.from(JSON.stringify({ ...config, strategy: 'none' })), stat.version);
  }

  /**
   * Reverts everything that keeps a node from leading, except the strategy. No node knows the strategy that
   * remains.
   */
  async #reconfigure(): Promise<void> {
    const { store, paths } = this.#access;
    const { data } = await store.getData(paths.config);
    const { timeouts, backoff, historySize } = groupConfigSchema.parse(
      JSON.parse(data.toString('utf8') || '{}'),
    );
    const config = { timeouts, backoff, historySize, strategy: 'none' };
    await store.set(paths.config, Buffer.from(JSON.stringify(config)), 'any');
  }

  #mayFail(error: unknown): void {
    if (!(error instanceof PetrelError) && !isStoreError(error)) throw error;
    this.#world.note(() => `ops: ${error.message}`);
  }

  async #change(request: Request): Promise<void> {
    await changeGroup(this.#access, author, request);
  }

  async #perform(act: Act): Promise<void> {
    const nodeOf = (index: number) => this.#names.nodes[index] ?? '';
    const siteOf = (index: number) => this.#names.sites[index] ?? '';
    switch (act.do) {
      case 'switchover':
        return await this.#change(
          switchover({ to: { node: nodeOf(act.node) }, notBeforeMs: null, slot: act.slot }),
        );
      case 'switchover to the best':
        return await this.#change(switchover({ to: 'best-other', notBeforeMs: null, slot: act.slot }));
      case 'failover':
        return await this.#change(failover({ to: nodeOf(act.node), evenUnderWay: true, slot: act.slot }));
      case 'drain':
        return await this.#change(drainNode(nodeOf(act.node)));
      case 'clear-failure':
        return await this.#change(clearFailure(nodeOf(act.node)));
      case 'apply acl':
        return await this.#applyAcl(act);
      case 'raise token epoch':
        return await this.#change(({ config }) => ({
          config: { ...config, tokenEpoch: this.#tokenEpoch },
          what: `tokenEpoch ${this.#tokenEpoch}`,
        }));
      case 'pause':
        return await this.#change(pauseGroup);
      case 'resume':
        return await this.#change(resumeGroup);
      case 'drain site':
        return await this.#change(drainSite(siteOf(act.site)));
      case 'mark site failed':
        return await this.#change(markSiteFailed(siteOf(act.site)));
      case 'mark site healthy':
        return await this.#change(markSiteHealthy(siteOf(act.site)));
      case 'priority': {
        const { priority, lastsMs } = act;
        return await this.#change(overridePriority({ site: siteOf(act.site), priority, forMs: lastsMs }));
      }
      case 'configure': {
        const { strategy, failback } = act;
        const what = `strategy ${strategy}, failback ${failback}`;
        return await this.#change(({ config }) => ({ config: { ...config, strategy, failback }, what }));
      }
      case 'leaders': {
        const { leaders } = act;
        return await this.#change(({ config }) => ({
          config: { ...config, leaders },
          what: `leaders ${leaders}`,
        }));
      }
      case 'spread': {
        const { over, strength } = act;
        return await this.#change(({ config }) => {
          const siteRules = { ...config.siteRules, spread: { over, strength } };
          return { config: { ...config, siteRules }, what: `spread over ${over}, ${strength}` };
        });
      }
      case 'misconfigure':
        return await this.#misconfigure();
      case 'evict':
      case 'evict dead':
        await evict(this.#access, author, { node: nodeOf(act.node), dead: act.do === 'evict dead' });
    }
  }

  async #applyAcl(credentials: Credentials): Promise<void> {
    const { paths } = this.#access;
    const access = accessBy(credentials);
    const store = this.#another(asAgent(credentials, paths));
    await store.connected();
    for (const znode of toSet(await readAcls(store, paths, access), paths, access))
      await setAcl(store, znode);
    await store.close();
  }

  // -- Changes of the tree by hand

  deleteSeatOf(node: string): void {
    this.#byHand(async (store, paths) => {
      const { children } = await store.getChildren(paths.election);
      const seat = children.find((name) => parseSeatName(name)?.node === node);
      if (seat !== undefined) await store.delete(paths.seat(seat), 'any');
    });
  }

  /** Replaces a decision with malformed data. */
  spoil(path: string): void {
    this.#byHand(async (store) => {
      await store.set(path, Buffer.from('{"node":'), 'any');
    });
  }

  delete(path: string): void {
    if (path.startsWith(this.#paths.current)) this.mayDelete = true;
    this.#byHand(async (store) => await store.delete(path, 'any'));
  }

  deleteAllUnder(path: string): void {
    this.mayDelete = true;
    this.#byHand(async (store) => await deleteRecursively(store, path));
  }

  /**
   * Deletes a path with everything under it at once. Tries again if agents create znodes meanwhile, until
   * `isOver` returns true.
   */
  deleteAtOnce(path: string, isOver: () => boolean): void {
    this.mayDelete = true;
    this.#byHand(async (store) => {
      while (!isOver() && (await store.exists(path)) !== null) {
        const deletions = (await pathsUnder(store, path)).map((one) => {
          return { type: 'delete', path: one, version: 'any' } as const;
        });
        await store.multi(deletions).catch((error: unknown) => {
          if (!isStoreError(error, 'NO_NODE', 'NOT_EMPTY')) throw error;
        });
      }
    });
  }

  /** Creates an empty znode. Repeats failed attempts. */
  create(path: string): void {
    const { store } = this.#access;
    this.process.deliver(() => {
      store.create(path, Buffer.alloc(0), 'persistent').catch((error: unknown) => {
        this.#mayFail(error);
        if (!isStoreError(error, 'NODE_EXISTS')) this.process.clock.timer(againMs, () => this.create(path));
      });
    });
  }

  #byHand(work: (store: Store, paths: GroupPaths) => Promise<void>): void {
    const { store, paths } = this.#access;
    this.process.deliver(() => {
      work(store, paths).catch((error: unknown) => this.#mayFail(error));
    });
  }
}

/**
 * Drops the restriction to certain sites if a failed leader's successor must be in another site. Otherwise,
 * the restriction could exclude every site that the successor may be in.
 */
function allowing({ siteRules }: GroupConfig): GroupConfig['siteRules'] {
  const { only, afterFailure } = siteRules;
  const isTied = afterFailure.from === 'another-site' && afterFailure.strength === 'hard';
  return isTied ? { ...siteRules, only: { strength: only.strength, sites: [] } } : siteRules;
}

/** Returns the paths under a path, and the path itself, such that every path comes before its parent. */
async function pathsUnder(store: Store, path: string): Promise<string[]> {
  const { children } = await store.getChildren(path).catch((error: unknown) => {
    if (isStoreError(error, 'NO_NODE')) return { children: [] };
    throw error;
  });
  const below = await Promise.all(children.map((child) => pathsUnder(store, `${path}/${child}`)));
  return [...below.flat(), path];
}

async function deleteRecursively(store: Store, path: string): Promise<void> {
  const { children } = await store.getChildren(path);
  for (const child of children) {
    try {
      await deleteRecursively(store, `${path}/${child}`);
    } catch (error) {
      if (!isStoreError(error, 'NO_NODE')) throw error;
    }
  }
  await store.delete(path, 'any');
}
