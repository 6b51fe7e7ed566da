/**
 * Publishes a node's measurements to the group in `scores/<nodeId>`, an ephemeral znode that no node watches.
 * The writes are independent of the agent's rounds. A node that measures nothing writes nothing.
 *
 * Not promised: that the published values are the newest (`src/scores/publication.ts` decides when to
 * publish), or that they can be written. A failed write affects only the node's scores.
 */
import type { Logger } from 'pino';
import { errorMessage } from '../../errors.js';
import { groupPaths } from '../../model/paths.js';
import { type Score, scoreReportText } from '../../model/scores.js';
import type { Clock } from '../../ports/clock.js';
import { isStoreError, type Store } from '../../ports/store.js';
import type { Tolerance } from '../../scores/measuring.js';
import {
  type Measured,
  type Published,
  publicationDueAtMs,
  publishEveryMs,
  publishedNow,
} from '../../scores/publication.js';

/** The parts of the agent that the node's scores depend on. */
export interface ReportingAgent {
  /** Current session. Null before the first session. */
  readonly session: Store | null;
  readonly incarnation: string;
  readonly status: { readonly joined: boolean };
  onStatus(listener: () => void): () => void;
}

export interface ScorePublisherOptions {
  readonly agent: ReportingAgent;
  readonly node: string;
  readonly root: string;
  readonly measurements: {
    readonly values: ReadonlyMap<string, Score>;
    tolerance(name: string): Tolerance;
    onChange(listener: () => void): () => void;
  };
  /**
   * Returns the round-trip times in milliseconds, keyed by the peer's node id. Called as often as a node may
   * publish. By default, no round trips are measured.
   */
  readonly roundTrips?: (() => ReadonlyMap<string, number>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ScorePublisher {
  readonly #options: ScorePublisherOptions;
  readonly #path: string;
  readonly #parent: string;
  readonly #unlisten: readonly (() => void)[];
  /** The session that the next two fields belong to. */
  #store: Store | null = null;
  #published: Published | null = null;
  /** Version of the znode that this session created. Null if the version is unknown and must be looked up. */
  #version: number | null = null;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #isWriting = false;
  #isFailing = false;
  #cancelTimer = () => {};
  #closed = false;

  constructor(options: ScorePublisherOptions) {
    const { agent, measurements, node, root } = options;
    this.#options = options;
    const paths = groupPaths(root);
    this.#path = paths.score(node);
    this.#parent = paths.scores;
    const look = () => this.#look();
    this.#unlisten = [agent.onStatus(look), measurements.onChange(look)];
    this.#look();
  }

  /** Stops writing. The znode disappears with the agent's session. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer();
    for (const stop of this.#unlisten) stop();
  }

  #look(): void {
    const { agent, measurements, roundTrips, clock } = this.#options;
    this.#cancelTimer();
    const store = agent.status.joined ? agent.session : null;
    if (this.#closed || this.#isWriting || store === null) return;
    if (store !== this.#store) this.#begin(store);
    const measured = { values: measurements.values, roundTripsMs: roundTrips?.() ?? noRoundTrips };
    const tolerance = (name: string) => measurements.tolerance(name);
    const nowMs = clock.monotonicMs();
    const dueAtMs = publicationDueAtMs(this.#published, measured, tolerance);
    const writeAtMs = Math.max(dueAtMs, this.#notBeforeMs);
    if (writeAtMs <= nowMs) return void this.#publish(store, measured);
    const lookAtMs = roundTrips === undefined ? writeAtMs : Math.min(writeAtMs, nowMs + publishEveryMs);
    if (lookAtMs === Number.POSITIVE_INFINITY) return;
    this.#cancelTimer = clock.timer(lookAtMs - nowMs, () => this.#look());
  }

  #begin(store: Store): void {
    this.#store = store;
    this.#published = null;
    this.#version = null;
    this.#notBeforeMs = Number.NEGATIVE_INFINITY;
  }

  async #publish(store: Store, measured: Measured): Promise<void> {
    const { agent, node, clock } = this.#options;
    const text = scoreReportText({ node, incarnation: agent.incarnation, ...measured });
    const published = publishedNow(this.#published, measured, clock.monotonicMs());
    this.#isWriting = true;
    try {
      await this.#write(store, Buffer.from(text));
      this.#published = published;
      this.#isFailing = false;
    } catch (error) {
      this.#failed(error);
    }
    this.#isWriting = false;
    this.#look();
  }

  /** Schedules a retry after the minimum interval between writes. */
  #failed(error: unknown): void {
    const { clock, log } = this.#options;
    this.#version = null;
    this.#notBeforeMs = clock.monotonicMs() + publishEveryMs;
    const isRoutine = isStoreError(error) && error.outcomeUnknown;
    if (isRoutine || this.#isFailing) log.debug({ error }, `scores not published: ${errorMessage(error)}`);
    else log.warn({ error }, `cannot publish this node's scores to the group: ${errorMessage(error)}`);
    this.#isFailing ||= !isRoutine;
  }

  async #write(store: Store, data: Buffer): Promise<void> {
    if (this.#version !== null) {
      try {
        this.#version = (await store.set(this.#path, data, this.#version)).version;
        return;
      } catch (error) {
        if (!isStoreError(error, 'NO_NODE', 'BAD_VERSION')) throw error;
      }
    }
    this.#version = await this.#make(store, data);
  }

  /** Creates the znode, or uses the one that this session has already created. Returns its version. */
  async #make(store: Store, data: Buffer): Promise<number> {
    try {
      await store.create(this.#path, data, 'ephemeral');
      return 0;
    } catch (error) {
      if (isStoreError(error, 'NODE_EXISTS')) return await this.#replace(store, data);
      if (!isStoreError(error, 'NO_NODE')) throw error;
    }
    await this.#makeParent(store);
    await store.create(this.#path, data, 'ephemeral');
    return 0;
  }

  /**
   * Writes to a znode that already exists. If an earlier session owns the znode, recreates it, because the
   * znode would disappear with that session. The znode belongs to this node, as the registration does.
   */
  async #replace(store: Store, data: Buffer): Promise<number> {
    const { ephemeralOwner, version } = (await store.getData(this.#path)).stat;
    if (ephemeralOwner === store.sessionId) return (await store.set(this.#path, data, version)).version;
    await store.multi([
      { type: 'delete', path: this.#path, version },
      { type: 'create', path: this.#path, data, mode: 'ephemeral' },
    ]);
    return 0;
  }

  async #makeParent(store: Store): Promise<void> {
    try {
      await store.create(this.#parent, Buffer.alloc(0), 'persistent');
    } catch (error) {
      if (!isStoreError(error, 'NODE_EXISTS')) throw error;
    }
  }
}

const noRoundTrips: ReadonlyMap<string, number> = new Map();
