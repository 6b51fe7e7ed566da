/**
 * The state of one group as its znodes show it to an observer, and changes as an operator makes them. A sync
 * precedes every read, so that a server that lags or is cut off cannot answer with outdated data.
 */

import type { GroupConfig } from '../../src/model/group-config.js';
import { type Parsed, parseJson } from '../../src/model/names.js';
import { type GroupPaths, groupPaths, pathsOfSlot } from '../../src/model/paths.js';
import { parseGroupConfig } from '../../src/model/read-config.js';
import { type Registration, registrationSchema } from '../../src/model/registration.js';
import { type Score, scoreReportSchema } from '../../src/model/scores.js';
import { seatsInOrder } from '../../src/model/sequence.js';
import {
  claimSchema,
  type Elected,
  electedSchema,
  type HistoryRecord,
  historyRecordSchema,
  type TransitionRecord,
} from '../../src/model/znodes.js';
import { isStoreError, type Store } from '../../src/ports/store.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';

/** The owner of the claim, as the claim describes it. */
export interface Leader {
  readonly node: string;
  readonly status: 'PROGRESS' | 'READY';
  readonly term: number;
  /** Fencing token. */
  readonly token: bigint;
  readonly session: bigint;
}

/** A healthy server answers in a fraction of this time. */
const callTimeoutMs = 1_500;

export class GroupView implements AsyncDisposable {
  readonly paths: GroupPaths;
  readonly #connectString: string;
  readonly #sessionTimeoutMs: number;
  #open: Store;

  constructor(connectString: string, root: string, sessionTimeoutMs: number) {
    this.paths = groupPaths(root);
    this.#connectString = connectString;
    this.#sessionTimeoutMs = sessionTimeoutMs;
    this.#open = this.#newStore();
  }

  /** Returns a store whose server is connected to the rest of its ensemble. */
  async store(): Promise<Store> {
    if (this.#open.state === 'LOST') this.#open = this.#newStore();
    try {
      await this.#open.connected({ timeoutMs: 5_000 });
      await this.#open.sync('/', { timeoutMs: callTimeoutMs });
    } catch (error) {
      void this.#open.close({ timeoutMs: 0 });
      this.#open = this.#newStore();
      throw error;
    }
    return this.#open;
  }

  /** Returns the leader of a slot, or null if no node has claimed that slot. */
  async leader(slot = 1): Promise<Leader | null> {
    const [leader = null] = await this.leaders([slot]);
    return leader;
  }

  /** Returns the leaders of several slots, in the order of `slots`, after a single sync. */
  async leaders(slots: readonly number[]): Promise<(Leader | null)[]> {
    const store = await this.store();
    return Promise.all(
      slots.map(async (slot) => {
        const read = await readFrom(store, pathsOfSlot(this.paths, slot).current);
        if (read === null) return null;
        const { node, status, term } = parsedValue(parseJson(claimSchema, read.data.toString('utf8')));
        return { node, status, term, token: read.stat.czxid, session: read.stat.ephemeralOwner };
      }),
    );
  }

  async elected(slot = 1): Promise<Elected> {
    const read = await this.#read(pathsOfSlot(this.paths, slot).elected);
    return parsedValue(parseJson(electedSchema, read?.data.toString('utf8') ?? ''));
  }

  async registration(node: string): Promise<Registration | null> {
    const read = await this.#read(this.paths.node(node));
    return read === null ? null : parsedValue(parseJson(registrationSchema, read.data.toString('utf8')));
  }

  /** Returns the scores that the node reports. Returns null while it reports none. */
  async scores(node: string): Promise<ReadonlyMap<string, Score> | null> {
    const read = await this.#read(this.paths.score(node));
    return read && parsedValue(parseJson(scoreReportSchema, read.data.toString('utf8'))).values;
  }

  /** Returns the nodes that have a seat, the elector first. */
  async seated(): Promise<string[]> {
    const { children } = await (await this.store()).getChildren(this.paths.election);
    return seatsInOrder(children).map(({ node }) => node);
  }

  /** Returns the history records, oldest first. */
  async history(): Promise<HistoryRecord[]> {
    const store = await this.store();
    const { children } = await store.getChildren(this.paths.history);
    const reads = children.toSorted().map((name) => store.getData(this.paths.historyRecord(name)));
    return (await Promise.all(reads)).map(({ data }) =>
      parsedValue(parseJson(historyRecordSchema, data.toString('utf8'))),
    );
  }

  async transitions(): Promise<TransitionRecord[]> {
    return (await this.history()).filter((record) => record.kind === 'transition');
  }

  async config(): Promise<GroupConfig> {
    return (await this.#configRead()).config;
  }

  async #configRead(): Promise<{ config: GroupConfig; version: number }> {
    const { data, stat } = await (await this.store()).getData(this.paths.config);
    return { config: parsedValue(parseGroupConfig(data.toString('utf8'))), version: stat.version };
  }

  /**
   * Changes the configuration as an operator does: by compare-and-set, with a retry after a concurrent
   * change.
   */
  async changeConfig(change: (config: GroupConfig) => void): Promise<void> {
    for (;;) {
      const { config, version } = await this.#configRead();
      change(config);
      try {
        const store = await this.store();
        await store.set(this.paths.config, Buffer.from(JSON.stringify(config)), version);
        return;
      } catch (error) {
        if (!isStoreError(error, 'BAD_VERSION')) throw error;
      }
    }
  }

  /** Requests a switchover as the command line does. Does not wait for its outcome. */
  async switchOver(to: string): Promise<void> {
    const { term } = await this.elected();
    const at = new Date().toISOString();
    await this.changeConfig((config) => {
      config.switchover = {
        to: { node: to },
        replacesTerm: term,
        notBefore: null,
        force: false,
        by: 'test',
        reason: 'test',
        at,
      };
    });
  }

  /** Returns a text with everything in the group, for the message of a failed test. */
  async dump(): Promise<string> {
    const store = await this.store();
    const { children } = await store.getChildren(this.paths.nodes);
    const { config, elected, current } = this.paths;
    const paths = [config, elected, current, ...children.map((name) => this.paths.node(name))];
    const texts = paths.map(async (path) => `${path}: ${(await this.#read(path))?.data ?? 'absent'}`);
    return [...(await Promise.all(texts)), `seats: ${await this.seated()}`].join('\n');
  }

  async close(): Promise<void> {
    await this.#open.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #read(path: string) {
    return readFrom(await this.store(), path);
  }

  #newStore(): Store {
    return openStore({
      servers: parseConnectionString(this.#connectString),
      sessionTimeoutMs: this.#sessionTimeoutMs,
      callTimeoutMs,
    });
  }
}

async function readFrom(store: Store, path: string) {
  try {
    return await store.getData(path);
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
  }
}

function parsedValue<T>(parsed: Parsed<T>): T {
  if (parsed.problem !== null) throw new Error(parsed.problem);
  return parsed.value;
}
