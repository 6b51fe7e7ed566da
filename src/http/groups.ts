/**
 * The groups that an agent's HTTP interface serves. If there are several groups, a request selects one by its
 * root. The readers of a group are created when the group is first requested. All readers share one session.
 */

import * as z from 'zod';
import type { Rules } from '../../strategies/registry.js';
import { Share } from '../agent/session/share.js';
import type { Logger } from '../log.js';
import { strictObject } from '../model/names.js';
import { firstOf, quoted } from '../model/outside.js';
import { groupPaths } from '../model/paths.js';
import type { ServedGroup, ServedGroups } from '../node/served-groups.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import { EventHub } from './event-hub.js';
import { Denial } from './failures.js';
import { GroupSession } from './group-session.js';

export const ofRoot = {
  root: z.string().optional().describe('root path of the group; optional if the agent is in one group only'),
};
/**
 * Query of a route that selects a group. Other parameters are rejected, because a client might expect them to
 * change the result.
 */
export const rootQuery = strictObject(ofRoot);
/**
 * Query of a route that load balancers and similar clients may poll. Any other parameters are accepted,
 * because such clients may add some.
 */
export const tolerantRootQuery = z.object(ofRoot);

export interface GroupsOptions {
  readonly groups: ServedGroups;
  /** Opens a separate session, which takes no part in the election. */
  openStore(): Store;
  readonly rules: Rules;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Readers {
  readonly session: GroupSession;
  readonly hub: EventHub;
}

export class Groups {
  readonly #options: GroupsOptions;
  readonly #readers = new Map<string, Readers>();
  readonly #reading: ReadingSession;

  constructor(options: GroupsOptions) {
    this.#options = options;
    this.#reading = new ReadingSession(() => options.openStore(), options.log);
    options.groups.onGone((root) => void this.#forget(root));
  }

  all(): readonly ServedGroup[] {
    return this.#options.groups.all();
  }

  /**
   * Returns the requested group. Throws Denial with status 400 if the request names no group and the agent is
   * in no group or in several. Throws Denial with status 404 for a group that the agent is not in.
   */
  pick(root: string | undefined): ServedGroup {
    const all = this.all();
    const [first, ...others] = all;
    const found =
      root === undefined ? (others.length === 0 ? first : undefined) : all.find((one) => one.root === root);
    if (found !== undefined) return found;
    const roots = firstOf(all.map((one) => one.root));
    const reasons = roots.length === 0 ? ['the agent is in no group'] : roots.map((one) => `?root=${one}`);
    if (root === undefined) {
      throw new Denial(
        400,
        'INVALID',
        roots.length === 0
          ? 'the agent is in no group'
          : 'the agent is in several groups: choose one with ?root=ROOT',
        {
          reasons,
        },
      );
    }
    throw new Denial(
      404,
      'NOT_FOUND',
      `this agent is not in the group ${quoted(root)}: choose another with ?root=ROOT`,
      {
        reasons,
      },
    );
  }

  session(root: string | undefined): GroupSession {
    return this.#readersOf(root).session;
  }

  hub(root: string | undefined): EventHub {
    return this.#readersOf(root).hub;
  }

  /** Number of clients that are reading events. */
  get readers(): number {
    return [...this.#readers.values()].reduce((sum, { hub }) => sum + hub.readers, 0);
  }

  /** Ends all event streams. */
  endEvents(): void {
    for (const { hub } of this.#readers.values()) hub.close();
  }

  /** Closes the session of every reader. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([...this.#readers.values()].map(({ session }) => session.close()));
  }

  #readersOf(requested: string | undefined): Readers {
    const { root } = this.pick(requested);
    const known = this.#readers.get(root);
    if (known !== undefined) return known;
    const { rules, clock, log } = this.#options;
    const openStore = () => this.#reading.open(root);
    const session = new GroupSession({ openStore, paths: groupPaths(root), rules, clock });
    const readers = { session, hub: new EventHub({ group: session, clock, log }) };
    this.#readers.set(root, readers);
    return readers;
  }

  async #forget(root: string): Promise<void> {
    const readers = this.#readers.get(root);
    this.#readers.delete(root);
    readers?.hub.close();
    await readers?.session.close();
  }
}

/** One session for all reads. It is open while any reader uses it. */
class ReadingSession {
  readonly #log: Logger;
  readonly #openStore: () => Store;
  #store: Store | null = null;
  #shares = new Set<Share>();

  constructor(openStore: () => Store, log: Logger) {
    this.#log = log;
    this.#openStore = openStore;
  }

  open(root: string): Store {
    if (this.#store === null || this.#store.state === 'LOST' || this.#store.state === 'CLOSED') this.#begin();
    const [store, shares] = [this.#store ?? this.#begin(), this.#shares];
    const share: Share = new Share(
      store,
      async (how) => {
        shares.delete(share);
        return shares.size > 0 || (await store.close(how));
      },
      root,
      this.#log,
    );
    shares.add(share);
    return share;
  }

  #begin(): Store {
    const store = this.#openStore();
    const shares = new Set<Share>();
    store.onChange((path) => {
      for (const share of [...shares]) if (share.isBelow(path)) share.changed(path);
    });
    store.onState((state) => {
      for (const share of [...shares]) share.stateIs(state);
    });
    this.#store = store;
    this.#shares = shares;
    return store;
  }
}
