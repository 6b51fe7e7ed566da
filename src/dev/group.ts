/**
 * Controls a development group: changes its configuration, waits until it has reached a given state, and
 * assigns its nodes their roles in a change of leader.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { builtInRules } from '../../strategies/index.js';
import type { DevelopmentServer } from '../embedded/server.js';
import { PetrelError, present } from '../errors.js';
import { type GroupView, readGroup } from '../group/view.js';
import { defaultGroupConfig, type GroupConfig } from '../model/group-config.js';
import { fromInstant, toInstant } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { systemClock } from '../ports/clock.js';
import { isStoreError, type Store } from '../ports/store.js';
import type { DevAgents } from './agents.js';
import type { DevHooks } from './hooks.js';
import type { Cast } from './moments.js';

/** The parts of a development group. The rehearsal writes the group's configuration. */
export interface Stage {
  readonly server: DevelopmentServer;
  readonly store: Store;
  readonly paths: GroupPaths;
  readonly agents: DevAgents;
  /** The hooks of the agents. */
  readonly hooks: DevHooks;
}

export interface DevGroupOptions {
  /** Settings of the group that differ from the default configuration. */
  readonly config: Partial<GroupConfig>;
  /** Time limit for each wait, in milliseconds. */
  readonly patienceMs: number;
  /** Ends all waits when aborted. The waits then reject with the signal's reason. */
  readonly signal: AbortSignal;
}

const lookAtLeastEveryMs = 100;
const byHand = { by: 'petrel dev', reason: 'a crash point is being rehearsed' };

export class DevGroup {
  readonly #stage: Stage;
  readonly #options: DevGroupOptions;
  #wake: () => void = () => {};

  constructor(stage: Stage, options: DevGroupOptions) {
    this.#stage = stage;
    this.#options = options;
  }

  /** Reports that something has changed. All pending waits then check their condition again. */
  changed(): void {
    this.#wake();
  }

  /**
   * Makes all nodes join a paused group that has never had a leader. The node that is to become the elector
   * joins first.
   */
  async newGroup(): Promise<Cast> {
    const { agents } = this.#stage;
    const [first, ...others] = agents.nodes;
    const candidate = present(first, 'a first node');
    const elector = present(others.at(-1), 'a second node');
    const order = [candidate, ...others];
    const paused = { ...byHand, at: toInstant(systemClock.wallMs()) };
    await this.configure({ ...this.#config(order), paused });
    agents.start(elector);
    await this.until(`${elector} to join`, ({ seats }) => seats.length === 1);
    agents.startAll();
    await this.until('all nodes to join', (view) => areAllIn(view, agents.nodes));
    return { elector, leader: null, candidate };
  }

  /** Waits until all nodes have joined, and assigns roles to three of them. */
  async wholeGroup(): Promise<Cast> {
    const { agents } = this.#stage;
    await this.configure(this.#config(agents.nodes));
    agents.startAll();
    const isWhole = (view: GroupView) => areAllIn(view, agents.nodes) && isQuiet(view) && !hasBackoff(view);
    let view = await this.until('the group to be complete', isWhole);
    const elector = present(view.seats[0], 'the first seat').node;
    if (readyLeader(view) === elector) {
      const other = present(
        agents.nodes.find((node) => node !== elector),
        'a node other than the elector',
      );
      await this.switchover(other);
      view = await this.until(`${other} to lead`, (view) => readyLeader(view) === other && isWhole(view));
    }
    const leader = present(readyLeader(view), 'a leader');
    const [next, ...spare] = agents.nodes.filter((node) => node !== elector && node !== leader);
    const candidate = present(next, 'a third node');
    await this.configure(this.#config([candidate, ...spare, leader, elector]));
    return { elector, leader, candidate };
  }

  /**
   * Returns settings under which the first node in `order` is elected next, and no transition happens without
   * a request.
   */
  #config(order: readonly string[]): Partial<GroupConfig> {
    const strategy = { strategy: 'preference-list', strategyOptions: { order } };
    return { ...this.#options.config, ...strategy, failback: 'manual', paused: null, switchover: null };
  }

  /** Requests a switchover, as the command `petrel switchover` does. */
  async switchover(node: string): Promise<void> {
    const { store, paths } = this.#stage;
    const { elected } = await readGroup({ store, paths, rules: builtInRules });
    const at = toInstant(systemClock.wallMs());
    const replacesTerm = elected.value?.term ?? 0;
    const request = { to: { node }, replacesTerm, notBefore: null, force: false, ...byHand, at };
    await this.configure({ switchover: request });
  }

  /** Changes the configuration by compare-and-set, because the elector may also write the configuration. */
  async configure(change: Partial<GroupConfig>): Promise<void> {
    const { store, paths } = this.#stage;
    for (;;) {
      const { config } = await readGroup({ store, paths, rules: builtInRules });
      const content = Buffer.from(JSON.stringify({ ...(config.value ?? defaultGroupConfig), ...change }));
      try {
        await store.set(paths.config, content, config.version);
        return;
      } catch (error) {
        if (!isStoreError(error, 'BAD_VERSION')) throw error;
      }
    }
  }

  /** Waits until `isSo` returns true. Reads the group after every change, and at regular intervals. */
  async until(wanted: string, isSo: (view: GroupView) => boolean): Promise<GroupView> {
    const untilMs = systemClock.monotonicMs() + this.#options.patienceMs;
    for (;;) {
      this.#options.signal.throwIfAborted();
      const changed = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const view = await this.#view();
      if (view !== null && isSo(view)) return view;
      if (systemClock.monotonicMs() >= untilMs) throw this.#tooLate(wanted);
      await Promise.race([changed, sleep(lookAtLeastEveryMs)]);
    }
  }

  /** Reads the group. Returns null if the group cannot be read. */
  async #view(): Promise<GroupView | null> {
    const { store, paths } = this.#stage;
    try {
      return await readGroup({ store, paths, rules: builtInRules });
    } catch (error) {
      if (isStoreError(error) && store.state !== 'CLOSED') return null;
      throw error;
    }
  }

  /**
   * Waits for `work`. Throws PetrelError FAILED if it takes too long. If the signal aborts, throws the
   * signal's reason.
   */
  async inTime<T>(wanted: string, work: Promise<T>): Promise<T> {
    const { signal } = this.#options;
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      signal.throwIfAborted();
      const end = () => reject(signal.reason);
      signal.addEventListener('abort', end);
      const cancelTimer = systemClock.timer(this.#options.patienceMs, () => reject(this.#tooLate(wanted)));
      cancel = () => {
        signal.removeEventListener('abort', end);
        cancelTimer();
      };
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel();
    }
  }

  #tooLate(wanted: string): PetrelError {
    return new PetrelError(
      'FAILED',
      `timed out after waiting ${this.#options.patienceMs / 1000} s for ${wanted}`,
    );
  }
}

export function readyLeader({ current }: Pick<GroupView, 'current'>): string | null {
  return current?.value?.status === 'READY' ? current.value.node : null;
}

/** Whether the elected node is READY and the history has a record of the current term. */
export function isQuiet(view: GroupView): boolean {
  const { elected, current, history } = view;
  const term = elected.value?.term;
  const isSettled = current?.value?.term === term && history?.value?.term === term;
  return term !== undefined && isSettled && readyLeader(view) === elected.value?.node;
}

function areAllIn({ members, seats }: GroupView, nodes: readonly string[]): boolean {
  return nodes.every((node) => {
    const member = members.find((one) => one.node === node);
    return member?.value?.draining === false && seats.some((seat) => seat.node === node);
  });
}

function hasBackoff({ elected }: GroupView): boolean {
  const nowMs = systemClock.wallMs();
  return (elected.value?.failures ?? []).some(({ until }) => until !== null && fromInstant(until) > nowMs);
}
