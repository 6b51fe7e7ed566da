/**
 * One session for the agents of any number of groups: each is handed a store of its own, which is a share in
 * the session that all have. What changes below a group's root wakes that group alone; a session that is over
 * is replaced once, for all; and one renewal keeps the leases of all that lead, since what proves a session
 * alive proves it for each of them.
 *
 * Whoever leaves takes what it owns of its group with it, while the session lives on for the others. The last
 * one ends the session, unless something of any group's work may live: then it is left to expire, and until
 * then that group's claim stands.
 */
import type { Logger } from 'pino';
import { errorMessage } from '../../errors.js';
import { groupPaths } from '../../model/paths.js';
import type { Clock } from '../../ports/clock.js';
import { isStoreError, type Store } from '../../ports/store.js';
import { depart } from '../membership.js';
import { forget, remember, type SessionMemory, type SessionTicket } from './session-memory.js';
import { Share } from './share.js';
import { SharedRenewals } from './shared-renewals.js';
import { type Sharing, Turns, usualElectorWatchdogMs, usualResyncMs } from './sharing.js';

export interface SharedSessionOptions {
  /** Opens a new session, or attaches to one that exists. */
  openStore(session?: SessionTicket): Store;
  readonly node: string;
  /** For several groups, or the only one of an agent. */
  readonly isShared: boolean;
  readonly memory: SessionMemory | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What the agent of one group opens its stores by. */
export interface Membership {
  openStore(session?: SessionTicket): Store;
  /** Of the earlier life; what is written and forgotten is the session's affair. */
  readonly sessionMemory: SessionMemory;
  readonly sharing: Sharing;
}

/** Rounds at once: enough to keep a connection busy, and no more than a renewal can wait behind. */
const roundsAtOnce = 24;
/** With more groups than this a session looks at each of them less often. */
const manyGroups = 20;
/** What an elector remembers of its last look it remembers for a minute. */
const seldomMs = 50_000;
/** Of the time between two looks: so that a thousand groups do not all look at the same moment. */
const spread = 0.2;

interface Session {
  readonly store: Store;
  readonly shares: Map<string, Share>;
  readonly renewals: SharedRenewals;
  /** Roots of groups of whose work something may live. */
  readonly unproven: Set<string>;
  /** Roots that were left while nobody could be reached. */
  readonly leaving: Set<string>;
}

export class SharedSession {
  readonly #options: SharedSessionOptions;
  readonly #turns = new Turns(roundsAtOnce);
  #session: Session | null = null;
  #hasEnded = true;

  constructor(options: SharedSessionOptions) {
    this.#options = options;
  }

  membership(root: string): Membership {
    const { memory, openStore } = this.#options;
    return {
      openStore: (session) => (session === undefined ? this.#share(root) : openStore(session)),
      sessionMemory: { earlier: memory?.earlier ?? null, write() {}, close() {} },
      sharing: this.#sharing(root),
    };
  }

  /**
   * Something of that group's work may live, under a claim that this session keeps. Its agent must not come
   * back before the session has ended: it would take the claim for its own.
   */
  isUnproven(root: string): boolean {
    const session = this.#session;
    return session !== null && !isOver(session.store) && session.unproven.has(root);
  }

  /** The groups have left: what is remembered of the session is forgotten where it ended in good order. */
  close(): void {
    forget(this.#options.memory, this.#hasEnded, this.#options.log);
  }

  #sharing(root: string): Sharing {
    const part = 1 - spread * shareOf(root);
    const isCrowded = () => (this.#session?.shares.size ?? 0) > manyGroups;
    return {
      isShared: this.#options.isShared,
      renewals: {
        begin: (options) => {
          const shared = this.#session?.shares.get(root) === options.store ? this.#session : null;
          return (shared?.renewals ?? new SharedRenewals(options)).begin(options);
        },
      },
      turn: () => this.#turns.take(),
      get resyncMs() {
        return isCrowded() ? seldomMs * part : usualResyncMs;
      },
      get electorWatchdogMs() {
        return isCrowded() ? seldomMs * part : usualElectorWatchdogMs;
      },
    };
  }

  #share(root: string): Store {
    const session = this.#current();
    const { log } = this.#options;
    const share: Share = new Share(
      session.store,
      (how) => this.#closed(session, root, share, how),
      root,
      log,
    );
    session.shares.set(root, share);
    session.leaving.delete(root);
    return share;
  }

  #current(): Session {
    const { log, clock, memory, openStore } = this.#options;
    if (this.#session !== null && !isOver(this.#session.store)) return this.#session;
    if (this.#session !== null) void this.#session.store.close({ timeoutMs: 0 });
    const store = openStore();
    const session = {
      store,
      shares: new Map<string, Share>(),
      renewals: new SharedRenewals({ store, clock, log }),
      unproven: new Set<string>(),
      leaving: new Set<string>(),
    };
    this.#session = session;
    this.#hasEnded = false;
    store.onChange((path) => {
      for (const root of rootsOf(path)) session.shares.get(root)?.changed(path);
      for (const share of session.shares.values()) if (share.watchesElsewhere(path)) share.changed(path);
    });
    store.onState((state) => {
      if (state === 'CONNECTED') {
        remember(memory, store, log);
        for (const root of session.leaving) void this.#depart(session, root);
      }
      for (const share of [...session.shares.values()]) share.stateIs(state);
    });
    return session;
  }

  /** True when nothing of the group is owned by the session any more. */
  async #closed(session: Session, root: string, share: Share, how: CloseOptions): Promise<boolean> {
    const { store, shares, unproven } = session;
    if (shares.get(root) === share) shares.delete(root);
    if (store.state === 'LOST') return false;
    if (how.abandon === true) unproven.add(root);
    const isLeft = shares.size > 0 || unproven.size > 0;
    const isGone = isLeft && how.abandon !== true && (await this.#depart(session, root));
    if (shares.size > 0) return isGone;
    const ended = await store.close({ ...how, abandon: unproven.size > 0 });
    if (this.#session === session) this.#hasEnded = ended;
    return ended || isGone;
  }

  async #depart(session: Session, root: string): Promise<boolean> {
    const { node, log } = this.#options;
    session.leaving.add(root);
    try {
      const isGone = await depart(session.store, groupPaths(root), node);
      if (isGone || session.shares.has(root)) session.leaving.delete(root);
      return isGone;
    } catch (error) {
      const isRoutine = isStoreError(error) && error.outcomeUnknown;
      if (!isRoutine) {
        session.leaving.delete(root);
        log.warn(
          { error, root },
          `cannot remove this node's znodes from the group; they remain until its session ends: ${errorMessage(error)}`,
        );
      }
      return false;
    }
  }
}

type CloseOptions = NonNullable<Parameters<Store['close']>[0]>;

function isOver({ state }: Store): boolean {
  return state === 'LOST' || state === 'CLOSED';
}

/** The path and all above it. */
function rootsOf(path: string): string[] {
  const names = path.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/') || '/');
}

/** From 0 up to 1, and always the same for a root. */
function shareOf(root: string): number {
  let sum = 0;
  for (const letter of root) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9_973;
  return sum / 9_973;
}
