/**
 * One session for the agents of any number of groups. Each agent gets its own store, which is a share of the
 * common session. A change below a group's root wakes that group only. A session that has ended is replaced
 * once, for all groups. One renewal extends the leases of all leaders, because all of them depend on the same
 * session.
 *
 * A departing agent deletes what it owns in its group, and the session continues for the other groups. The
 * last agent ends the session, unless some group's workload may still be running. In that case, the session
 * is left to expire, and that group's claim remains until then.
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
  /** Opens a new session, or attaches to an existing one. */
  openStore(session?: SessionTicket): Store;
  readonly node: string;
  /** Whether the session serves several groups. If not, it serves only one agent. */
  readonly isShared: boolean;
  readonly memory: SessionMemory | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Parts of the session that the agent of one group uses. */
export interface Membership {
  openStore(session?: SessionTicket): Store;
  /** Memory of the earlier run. The shared session itself writes and closes it. */
  readonly sessionMemory: SessionMemory;
  readonly sharing: Sharing;
}

/**
 * Maximum number of concurrent rounds. It is large enough to keep a connection busy, but small enough that a
 * renewal need not wait long for the rounds.
 */
const roundsAtOnce = 24;
/** Number of groups above which a session checks each group less often. */
const manyGroups = 20;
/**
 * Interval between checks of a group if the session serves many groups. It is shorter than one minute, which
 * is how long an elector remembers its last check.
 */
const seldomMs = 50_000;
/**
 * Fraction by which the time between checks varies from group to group. The variation keeps a thousand groups
 * from being checked at the same time.
 */
const spread = 0.2;

interface Session {
  readonly store: Store;
  readonly shares: Map<string, Share>;
  readonly renewals: SharedRenewals;
  /** Roots of groups whose workload may still be running. */
  readonly unproven: Set<string>;
  /** Roots of the groups whose agents left while the ensemble was unreachable. */
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
   * Whether part of the group's workload may still be running under a claim that this session keeps. The
   * group's agent must not start again before the session has ended. Otherwise, it would mistake that claim
   * for its own.
   */
  isUnproven(root: string): boolean {
    const session = this.#session;
    return session !== null && !isOver(session.store) && session.unproven.has(root);
  }

  /** Forgets the session if it ended cleanly. Must be called when all groups have left. */
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

  /** Handles the closing of a share. Returns whether the session no longer owns anything in the group. */
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

/** Returns the path and all its ancestors. */
function rootsOf(path: string): string[] {
  const names = path.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/') || '/');
}

/** Returns a number that is at least 0 and less than 1. It is always the same for the same root. */
function shareOf(root: string): number {
  let sum = 0;
  for (const letter of root) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9_973;
  return sum / 9_973;
}
